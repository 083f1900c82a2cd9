import { createRule } from "../../../core/retraining/lifecycle";
import { ruleDefinitionSchema } from "../../../core/retraining/rule";
import type { RetrainEvent } from "../../../lambdas/retrain/events";
import { createRetrainHandler } from "../../../lambdas/retrain/retrain";
import { jobInput, registerTestDataset } from "../../support/fixtures";
import { at, type Delivery, type World } from "./world";

const hour = (n: number) => `2026-01-01T0${n}:00:00.000Z`;

/** Two versions of a dataset, findings of a monitor and its alarm, a schedule's times, and the sweep. */
export async function retraining({ platform }: World): Promise<readonly Delivery[]> {
  const { config, team } = platform;
  await registerTestDataset(platform, "watched", 100);
  await registerTestDataset(platform, "watched", 110);
  const job = jobInput({ dataset: "watched", evaluation: {} });
  const rules = [
    { name: "on-data", trigger: { type: "dataset", dataset: "watched" } },
    { name: "on-drift", trigger: { type: "drift", monitor: "inputs", severity: "warning" } },
    { name: "nightly", trigger: { type: "schedule", expression: "rate(1 day)" } },
  ];
  // The first of several causes with an equal job and version starts the run: each rule has another job and one cause.
  for (const [seed, rule] of rules.entries())
    await createRule(platform, ruleDefinitionSchema.parse({ ...rule, job: { ...job, seed } }), { by: "test" });
  // The first event determines a run's id. This compares everything else.
  const handle = createRetrainHandler(platform, platform.logger, () => "0123456789abcdef");
  const created = (version: number) => ({
    ...{ source: "aws.s3", "detail-type": "Object Created", time: at },
    detail: {
      bucket: { name: config.bucket },
      object: { key: `teams/${team}/datasets/watched/versions/${version}/manifest.json` },
    },
  });
  const drift = (n: number) => ({
    ...{ source: "ringmaster", "detail-type": "Drift Detected", time: hour(n) },
    detail: { platform: config.prefix, team, monitor: "inputs", windowEnd: hour(n), severity: "critical" },
  });
  const alarm = (n: number, value: string) => ({
    ...{ source: "aws.cloudwatch", "detail-type": "CloudWatch Alarm State Change", time: hour(n) },
    detail: {
      alarmName: `${config.prefix}-drift-${team}.inputs`,
      state: { value, timestamp: hour(n) },
    },
  });
  const schedule = (n: number) => ({ type: "retraining-schedule", team, rule: "nightly", scheduledTime: hour(n) });
  const sweep = { source: "aws.events", "detail-type": "Scheduled Event", time: at, detail: {} };
  const events: readonly object[] = [
    ...[created(1), drift(1), schedule(1), sweep, alarm(3, "OK"), created(2), drift(1), sweep],
  ];
  return events.map((event) => () => handle(event as RetrainEvent));
}
