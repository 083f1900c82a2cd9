import { readEvent, type TriggerEvent } from "../../../lambdas/fire-triggers/events";
import { createTriggerHandler } from "../../../lambdas/fire-triggers/fire-triggers";
import { createScene, type Scene } from "../../core/triggers/scene";
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
const created = (key: string, bucket = own.bucket): TriggerEvent => ({
  ...envelope,
  source: "aws.s3",
  "detail-type": "Object Created",
  detail: { bucket: { name: bucket }, object: { key } },
});
const drift = (detail: object): TriggerEvent => ({
  ...envelope,
  source: "ringmaster",
  "detail-type": "Drift Detected",
  detail: detail as never,
});
const alarm = (alarmName: string, value = "ALARM"): TriggerEvent => ({
  ...envelope,
  source: "aws.cloudwatch",
  "detail-type": "CloudWatch Alarm State Change",
  detail: { alarmName, state: { value, timestamp: "2026-01-01T12:29:58.985+0000" } },
});

const published = (type: string, detail: object): TriggerEvent =>
  ({ ...envelope, source: "ringmaster", "detail-type": type, detail }) as never;
const changed = (entry: object) =>
  published("Model Version Changed", {
    team: "vision",
    at: "2026-01-01T12:30:00.000Z",
    model: "digits",
    revision: 9,
    ...entry,
  });
const ended = (cause: object | undefined) => published("Training Run Ended", { team: "vision", runId: "run-1", cause });

describe("an event says what has happened", () => {
  it.each<[string, TriggerEvent, object]>([
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
    [
      "a promotion",
      changed({ action: "promoted", version: 4, to: "production" }),
      { type: "model", team: "vision", model: "digits", version: 4, to: "production", revision: 9 },
    ],
    ["an alias", changed({ action: "alias-set", version: 4, subject: "blue" }), { type: "model", to: "blue" }],
    ["a tag is nothing", changed({ action: "tagged", version: 4, subject: "blue" }), { type: "none" }],
    ["an end of a run of a trigger", ended({ trigger: "on-digits", id: "x" }), { type: "ended", trigger: "on-digits" }],
    ["an end of another run is nothing", ended(undefined), { type: "none" }],
    ["an alarm that is over is nothing", alarm("ringmaster-drift-team-a.model-b", "OK"), { type: "none" }],
    ["an alarm of another kind is nothing", alarm("ringmaster-errors"), { type: "none" }],
    [
      "a schedule's firing, by the time that it named",
      { type: "trigger-schedule", team: "a", trigger: "nightly", scheduledTime: "2026-01-01T02:00:00Z" },
      { type: "schedule", team: "a", trigger: "nightly", at: "2026-01-01T02:00:00.000Z" },
    ],
    [
      "a firing whose time was not filled in is nothing",
      { type: "trigger-schedule", team: "a", trigger: "nightly", scheduledTime: "<aws.scheduler.scheduled-time>" },
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
  let handle: (event: TriggerEvent) => Promise<readonly { trigger: string; state: string }[]>;
  beforeAll(async () => {
    scene = await createScene(embedded, "vision");
    handle = createTriggerHandler(scene.deployment, scene.deployment.logger, scene.dependencies.randomId);
    await scene.trigger();
    await scene.trigger({ name: "mild", on: { type: "drift", monitor: "inputs" } });
    await scene.trigger({ name: "severe", on: { type: "drift", monitor: "inputs", severity: "critical" } });
  });

  it("runs a new version once, of three deliveries at once and one late", async () => {
    await scene.push(101);
    const event = created("teams/vision/datasets/digits/versions/2/manifest.json");
    await Promise.all([1, 2, 3].map(() => handle(event)));
    expect(await handle(event)).toMatchObject([{ trigger: "on-digits", state: "submitted" }]);
    expect(await scene.runs()).toHaveLength(1);
  });

  it("does nothing about a version or a trigger that there is not, and about another team's", async () => {
    expect(await handle(created("teams/vision/datasets/digits/versions/99/manifest.json"))).toEqual([]);
    expect(await handle(created("teams/other/datasets/digits/versions/2/manifest.json"))).toEqual([]);
    const scheduledTime = "2026-01-01T13:00:00Z";
    expect(await handle({ type: "trigger-schedule", team: "vision", trigger: "gone", scheduledTime })).toEqual([]);
  });

  it("fires the triggers that a finding is bad enough for", async () => {
    const found = async (windowEnd: string, severity?: string) =>
      (await handle(drift({ team: "vision", monitor: "inputs", windowEnd, severity })))
        .map(({ trigger }) => trigger)
        .sort();
    expect(await found("2026-01-01T12:00:00Z")).toEqual(["mild"]);
    expect(await found("2026-01-01T13:00:00Z", "critical")).toEqual(["mild", "severe"]);
    expect(await found("2026-01-01T13:00:00Z", "critical")).toEqual(["mild", "severe"]);
    // They all ask for the run that the new version started.
    expect(await scene.runs()).toHaveLength(1);
  });

  it("fires the triggers on the stage or alias that a version got, once a change", async () => {
    for (const to of ["production", "blue"])
      await scene.trigger({ name: `to-${to}`, on: { type: "model", model: "digits", to }, concurrency: "queue" });
    const event = changed({ action: "rolled-back", version: 4, to: "production", at: "2026-01-01T14:00:00.000Z" });
    for (let again = 0; again < 2; again += 1)
      expect(await handle(event)).toMatchObject([{ trigger: "to-production", id: "model:digits@4#9" }]);
    expect(await handle(changed({ action: "alias-set", version: 4, subject: "green" }))).toEqual([]);
  });

  it("starts the cause that waits when a run of the trigger has ended", async () => {
    await scene.trigger({
      name: "queued",
      start: { job: jobInput({ evaluation: {}, seed: 8 }) },
      concurrency: "queue",
    });
    for (const rows of [111, 112]) await scene.push(rows);
    for (const version of [3, 4])
      await handle(created(`teams/vision/datasets/digits/versions/${version}/manifest.json`));
    const runsOfIt = async () => (await scene.runs()).filter(({ cause }) => cause?.trigger === "queued");
    const [first, ...others] = await runsOfIt();
    expect(others).toEqual([]);
    await scene.platform.runs.close(first!.runId, { status: "failed", at: "2026-01-01T13:00:00.000Z" });
    for (let again = 0; again < 2; again += 1) await handle(ended({ trigger: "queued", id: "dataset:digits@3" }));
    expect((await runsOfIt()).map(({ dataset }) => dataset.version).sort()).toEqual([3, 4]);
  });

  it("fails where one of its triggers could not be dealt with, and does the others all the same", async () => {
    await scene.trigger({ name: "second", start: { job: jobInput({ evaluation: {}, experiment: "second" }) } });
    await scene.push(102);
    const { triggers } = scene.platform;
    const flaky = {
      ...triggers,
      find: async (name: string) => {
        if (name === "second") throw new Error("throttled");
        return triggers.find(name);
      },
    };
    const forTeam = (team: string) => ({ ...scene.deployment.forTeam(team), triggers: flaky });
    const event = created("teams/vision/datasets/digits/versions/5/manifest.json");
    const failing = createTriggerHandler({ ...scene.deployment, forTeam } as never, scene.deployment.logger, () => "0");
    await expect(failing(event)).rejects.toThrow("throttled");
    expect((await triggers.findCause("on-digits", "dataset:digits@5"))?.state).toBe("submitted");
    await handle(event);
    expect((await scene.runs()).filter(({ cause }) => cause?.id === "dataset:digits@5")).toHaveLength(2);
  });
});
