import { type RetrainEvent, readEvent } from "../../../lambdas/retrain/events";
import { createRetrainHandler } from "../../../lambdas/retrain/retrain";
import { createScene, type Scene } from "../../core/retraining/scene";
import { useEmbedded } from "../../support/embedded";
import { jobInput } from "../../support/fixtures";

const own = { bucket: "ringmaster-data", prefix: "ringmaster" };
const envelope = {
  version: "0" as const,
  id: "1",
  account: "000000000000",
  time: "2026-01-01T12:30:00Z",
  region: "us-east-1",
  resources: [],
};
const created = (key: string, bucket = own.bucket): RetrainEvent => ({
  ...envelope,
  source: "aws.s3",
  "detail-type": "Object Created",
  detail: { bucket: { name: bucket }, object: { key } },
});
const drift = (detail: object): RetrainEvent => ({
  ...envelope,
  source: "ringmaster",
  "detail-type": "Drift Detected",
  detail: detail as never,
});
const alarm = (alarmName: string, value = "ALARM"): RetrainEvent => ({
  ...envelope,
  source: "aws.cloudwatch",
  "detail-type": "CloudWatch Alarm State Change",
  detail: { alarmName, state: { value, timestamp: "2026-01-01T12:29:58.985+0000" } },
});

describe("an event says what has happened", () => {
  it.each<[string, RetrainEvent, object]>([
    [
      "a manifest in the bucket is a version",
      created("teams/vision/datasets/digits/versions/12/manifest.json"),
      { type: "dataset", team: "vision", dataset: "digits", version: 12 },
    ],
    [
      "of another bucket it is nothing",
      created("teams/vision/datasets/digits/versions/12/manifest.json", "b"),
      { type: "none" },
    ],
    ["any other object is nothing", created("teams/vision/runs/run-1/artifacts/manifest.json"), { type: "none" }],
    [
      "a team that could be none is none",
      created("teams/Vision#1/datasets/d/versions/1/manifest.json"),
      { type: "none" },
    ],
    [
      "a finding of drift",
      drift({ team: "vision", monitor: "inputs", windowEnd: "2026-01-01T12:00:00+01:00", severity: "critical" }),
      {
        type: "drift",
        team: "vision",
        monitor: "inputs",
        at: "2026-01-01T12:30:00.000Z",
        windowEnd: "2026-01-01T11:00:00.000Z",
        severity: "critical",
      },
    ],
    [
      "a finding without a degree is a warning",
      drift({ team: "a", monitor: "m", windowEnd: "2026-01-01" }),
      { severity: "warning" },
    ],
    ["a finding without a window is nothing", drift({ team: "a", monitor: "m" }), { type: "none" }],
    [
      "a finding of an unknown degree is nothing",
      drift({ team: "a", monitor: "m", windowEnd: "2026-01-01", severity: "dire" }),
      { type: "none" },
    ],
    [
      "a drift alarm, by the time of its state change",
      alarm("ringmaster-drift-team-a.model-b"),
      {
        type: "drift",
        team: "team-a",
        monitor: "model-b",
        windowEnd: "2026-01-01T12:29:58.985Z",
        severity: "critical",
      },
    ],
    ["an alarm that is over is nothing", alarm("ringmaster-drift-team-a.model-b", "OK"), { type: "none" }],
    ["an alarm of another kind is nothing", alarm("ringmaster-errors"), { type: "none" }],
    [
      "a schedule's firing, by the time that it named",
      { type: "retraining-schedule", team: "a", rule: "nightly", scheduledTime: "2026-01-01T02:00:00Z" },
      { type: "schedule", team: "a", rule: "nightly", at: "2026-01-01T02:00:00.000Z" },
    ],
    [
      "a firing whose time was not filled in is nothing",
      { type: "retraining-schedule", team: "a", rule: "nightly", scheduledTime: "<aws.scheduler.scheduled-time>" },
      { type: "none" },
    ],
    [
      "the sweep's own schedule",
      { ...envelope, source: "aws.events", "detail-type": "Scheduled Event", detail: {} },
      { type: "sweep" },
    ],
    [
      "anything else is nothing",
      { ...envelope, source: "x", "detail-type": "y", detail: {} } as never,
      { type: "none" },
    ],
  ])("%s", (_name, event, happening) => {
    expect(readEvent(event, own)).toMatchObject(happening);
  });
});

describe("the function", () => {
  const embedded = useEmbedded();
  let scene: Scene;
  let handle: (event: RetrainEvent) => Promise<readonly { rule: string; state: string }[]>;
  beforeAll(async () => {
    scene = await createScene(embedded, "vision");
    handle = createRetrainHandler(scene.deployment, scene.deployment.logger, scene.dependencies.randomId);
    await scene.rule();
    await scene.rule({ name: "mild", trigger: { type: "drift", monitor: "inputs" } });
    await scene.rule({ name: "severe", trigger: { type: "drift", monitor: "inputs", severity: "critical" } });
  });

  it("runs a new version once, of three deliveries at once and one late", async () => {
    await scene.push(101);
    const event = created("teams/vision/datasets/digits/versions/2/manifest.json");
    await Promise.all([1, 2, 3].map(() => handle(event)));
    expect(await handle(event)).toMatchObject([{ rule: "on-digits", state: "submitted" }]);
    expect(await scene.runs()).toHaveLength(1);
  });

  it("does nothing about a version or a rule that there is not, and about another team's", async () => {
    expect(await handle(created("teams/vision/datasets/digits/versions/99/manifest.json"))).toEqual([]);
    expect(await handle(created("teams/other/datasets/digits/versions/2/manifest.json"))).toEqual([]);
    const scheduledTime = "2026-01-01T13:00:00Z";
    expect(await handle({ type: "retraining-schedule", team: "vision", rule: "gone", scheduledTime })).toEqual([]);
  });

  it("wakes the rules that a finding is bad enough for", async () => {
    const found = async (windowEnd: string, severity?: string) =>
      (await handle(drift({ team: "vision", monitor: "inputs", windowEnd, severity }))).map(({ rule }) => rule).sort();
    expect(await found("2026-01-01T12:00:00Z")).toEqual(["mild"]);
    expect(await found("2026-01-01T13:00:00Z", "critical")).toEqual(["mild", "severe"]);
    expect(await found("2026-01-01T13:00:00Z", "critical")).toEqual(["mild", "severe"]);
    // They all ask for the run that the new version started.
    expect(await scene.runs()).toHaveLength(1);
  });

  it("fails where one of its rules could not be dealt with, and does the others all the same", async () => {
    await scene.rule({ name: "second", job: jobInput({ evaluation: {}, experiment: "second" }) });
    await scene.push(102);
    const { retraining } = scene.platform;
    const flaky = {
      ...retraining,
      find: async (name: string) => {
        if (name === "second") throw new Error("throttled");
        return retraining.find(name);
      },
    };
    const forTeam = (team: string) => ({ ...scene.deployment.forTeam(team), retraining: flaky });
    const event = created("teams/vision/datasets/digits/versions/3/manifest.json");
    const failing = createRetrainHandler({ ...scene.deployment, forTeam } as never, scene.deployment.logger, () => "0");
    await expect(failing(event)).rejects.toThrow("throttled");
    expect((await retraining.findCause("on-digits", "dataset:digits@3"))?.state).toBe("submitted");
    await handle(event);
    expect((await scene.runs()).filter(({ cause }) => cause?.id === "dataset:digits@3")).toHaveLength(2);
  });
});
