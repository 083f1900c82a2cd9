import { eventTypes, type NotableEvent } from "../../../core/notifications/shapes";
import { type NotifyEvent, notify } from "../../../lambdas/notify/notify";
import { at, type Delivery, type World } from "./world";

/** Ends of runs, a request for approval and blocked data, as EventBridge hands them on, and the sweep. */
export async function notifications({ platform }: World): Promise<readonly Delivery[]> {
  const { team, config, clock } = platform;
  await platform.notifications.putSettings({
    ...{ url: "https://example.com/hook", topic: true, events: eventTypes, keyGeneration: 1 },
    ...{ updatedBy: "test", updatedAt: at },
  });
  const ended = (runId: string, type: "run.completed" | "run.killed"): NotableEvent => ({
    ...{ id: `run-ended-${runId}`, type, at, team, runId, experiment: "digits", model: "digits" },
    ...{ metrics: { accuracy: 0.9 }, durationSeconds: 60, submittedBy: "ada" },
  });
  const needed: NotableEvent = {
    ...{ id: "approval-needed-1", type: "approval.needed", at, team, model: "digits", version: 1 },
    ...{ approvals: { required: 1, given: 0 }, approvers: [], checks: [], submittedBy: "ada", metrics: {} },
    commands: { approve: "ringmaster models approve digits 1", reject: "ringmaster models reject digits 1" },
  };
  const blocked: NotableEvent = {
    ...{ id: "data-contract-blocked-1", type: "data-contract.blocked", at, team, dataset: "digits", revision: 1 },
    ...{ source: "push", rows: 10, blocking: 1, violations: ["digit must not be missing: 2 rows"] },
  };
  const deliver = (event: object): Delivery => {
    const until = clock.now() + 60_000;
    return () => notify(platform, platform.logger, event as NotifyEvent, until);
  };
  const published = (detailType: string, event: NotableEvent): Delivery =>
    deliver({
      source: "ringmaster",
      "detail-type": detailType,
      time: at,
      detail: { platform: config.prefix, ...event },
    });
  const sweep = deliver({ source: "aws.events", "detail-type": "Scheduled Event", time: at, detail: {} });
  return [
    published("Training Run Ended", ended("run-a", "run.completed")),
    published("Approval Needed", needed),
    published("Data Contract Blocked", blocked),
    sweep,
    published("Training Run Ended", ended("run-b", "run.killed")),
    // Not as the platform publishes it: nothing comes of it.
    deliver({ source: "ringmaster", "detail-type": "Training Run Ended", time: at, detail: { team: "x#y" } }),
    sweep,
  ];
}
