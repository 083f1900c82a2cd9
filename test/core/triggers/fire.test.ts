import { jobSchema } from "../../../core/runs/job";
import { submitRun } from "../../../core/training/submit";
import type { Cause } from "../../../core/triggers/cause";
import { fire } from "../../../core/triggers/fire";
import { setEnabled, updateTrigger } from "../../../core/triggers/lifecycle";
import { triggerDefinitionSchema } from "../../../core/triggers/trigger";
import { useEmbedded } from "../../support/embedded";
import { jobInput } from "../../support/fixtures";
import { versionOfRun } from "../../support/registry";
import { createScene, type Scene } from "./scene";

const embedded = useEmbedded();
let scene: Scene;
let teams = 0;
beforeEach(async () => {
  teams += 1;
  scene = await createScene(embedded, `fire-${teams}`);
});

const scheduled = (at: string): Cause => ({ type: "schedule", at });

describe("a cause", () => {
  it("starts one run, however often and from however many places its event comes", async () => {
    await scene.trigger();
    const cause = await scene.push(101);
    const records = await Promise.all(Array.from({ length: 4 }, () => fire(scene.dependencies, "on-digits", cause)));
    records.push(await fire(scene.dependencies, "on-digits", cause));
    const runs = await scene.runs();
    expect(runs).toHaveLength(1);
    expect(new Set(records.map((record) => record?.runId))).toEqual(new Set([runs[0]!.runId]));
    expect(runs[0]).toMatchObject({
      dataset: { name: "digits", version: 2 },
      createdBy: "trigger on-digits",
      cause: { trigger: "on-digits", type: "dataset", id: "dataset:digits@2", at: cause.at },
    });
    expect(await scene.platform.triggers.find("on-digits")).toMatchObject({ starts: 1 });
    expect(scene.calls.measured.filter(({ measures }) => measures.TriggerFired)).toHaveLength(1);
    expect(new Set(scene.calls.started)).toEqual(new Set([runs[0]!.runId]));
  });

  it("pauses after each lost race, and gives up after some of them", async () => {
    await scene.trigger();
    const pauses: number[] = [];
    const pause = async (round: number) => void pauses.push(round);
    const cause = await scene.push(101);
    const triggers = { ...scene.dependencies.triggers, putCause: async () => false };
    await expect(fire({ ...scene.dependencies, triggers, pause }, "on-digits", cause)).rejects.toMatchObject({
      code: "TRIGGER_BUSY",
    });
    expect(pauses).toEqual(Array.from({ length: 23 }, (_, i) => i + 1));
  });

  it("concerns the rules that wait for it, each by itself", async () => {
    await scene.trigger();
    await scene.trigger({
      name: "small",
      start: { job: jobInput({ evaluation: {}, experiment: "small", registerAs: "small" }) },
    });
    expect([...(await scene.platform.triggers.triggersOn("dataset", "digits"))].sort()).toEqual(["on-digits", "small"]);
    const cause = await scene.push(101);
    for (const rule of ["small", "on-digits", "nobody"]) await fire(scene.dependencies, rule, cause);
    expect((await scene.runs()).map(({ cause: { trigger } = {}, model }) => [trigger, model]).sort()).toEqual([
      ["on-digits", "digits"],
      ["small", "small"],
    ]);
  });

  it("that a person gives runs at once, whatever the rule's limits, and once a key", async () => {
    await scene.trigger({ cooldownMinutes: 60 });
    await setEnabled(scene.dependencies, "on-digits", false, "ada");
    const by = (key: string): Cause => ({
      type: "manual",
      at: new Date(scene.clock.time).toISOString(),
      by: "ada",
      key,
    });
    for (const key of ["a", "a", "b"]) await fire(scene.dependencies, "on-digits", by(key));
    expect((await scene.runs()).map(({ createdBy }) => createdBy)).toEqual(["ada", "ada"]);
  });

  it("whose job does not fit the new columns is recorded with what is wrong, on itself and on the rule", async () => {
    await scene.trigger({
      start: { job: jobInput({ evaluation: {}, resources: { microBatches: 64 }, hyperparameters: { batchSize: 64 } }) },
    });
    const cause = await scene.push(60); // 40 rows to train on
    const record = await fire(scene.dependencies, "on-digits", cause);
    expect(record).toMatchObject({
      state: "failed",
      failure: {
        code: "INVALID_INPUT",
        message: expect.stringContaining("must be at most the 40 training rows of digits@2"),
      },
    });
    expect(await fire(scene.dependencies, "on-digits", cause)).toEqual(record);
    expect(await scene.platform.triggers.find("on-digits")).toMatchObject({
      lastFailure: { cause: "dataset:digits@2", code: "INVALID_INPUT" },
    });
    expect(await scene.runs()).toEqual([]);
  });

  it("starts no run for a job and a version that a run has trained: any kind, at once or later", async () => {
    const windows = [1, 2].map((second): Cause => {
      const at = `2026-01-01T12:30:0${second}.000Z`;
      return { type: "drift", at, monitor: "inputs", windowEnd: at, severity: "critical" };
    });
    const job = jobInput({ evaluation: {}, limits: undefined });
    await scene.trigger({
      name: "drifts",
      on: { type: "drift", monitor: "inputs" },
      start: { job },
      cooldownMinutes: 0,
    });
    expect((await scene.trigger({ name: "usual", on: { type: "drift", monitor: "x" } })).cooldownMinutes).toBe(60);
    await scene.trigger({ name: "nightly", on: { type: "schedule", expression: "rate(1 hour)" }, start: { job } });
    await Promise.all(windows.map((cause) => fire(scene.dependencies, "drifts", cause)));
    const [run, ...others] = await scene.runs();
    expect(others).toEqual([]);
    const records = await Promise.all(windows.map((cause) => fire(scene.dependencies, "drifts", cause)));
    expect(records.map((record) => [record!.state, record!.runId]).sort()).toEqual([
      ["submitted", run!.runId],
      ["unchanged", run!.runId],
    ]);
    expect(await fire(scene.dependencies, "nightly", scheduled("2026-01-01T13:00:00.000Z"))).toMatchObject({
      state: "unchanged",
      reason: `nothing was new: ${run!.runId} trained this job on digits@1`,
    });
    // A failed run trained nothing, and a new version is new.
    await scene.platform.runs.close(run!.runId, { status: "failed", at: "2026-01-01T13:30:00.000Z" });
    const again = await fire(scene.dependencies, "nightly", scheduled("2026-01-01T14:00:00.000Z"));
    expect(again).toMatchObject({ state: "submitted", runId: expect.not.stringMatching(run!.runId) });
    await scene.push(101);
    const next = await fire(scene.dependencies, "nightly", scheduled("2026-01-01T15:00:00.000Z"));
    expect(next).toMatchObject({ state: "submitted" });
    expect(await scene.runs()).toHaveLength(3);
  });

  it("starts no run for what made a version of the model, which it names", async () => {
    await scene.trigger({ name: "nightly", on: { type: "schedule", expression: "rate(1 hour)" } });
    const job = jobSchema.parse(jobInput({ evaluation: {} }));
    const run = await submitRun(scene.dependencies, {
      ...{ job, code: {}, noCache: false, team: scene.dependencies.team, actor: "ada" },
    });
    await scene.platform.registry.register(
      run.team,
      { ...versionOfRun(job.registerAs!, run.runId), dataset: run.dataset },
      { by: "ada", at: run.createdAt },
    );
    expect(await fire(scene.dependencies, "nightly", scheduled("2026-01-01T13:00:00.000Z"))).toMatchObject({
      state: "unchanged",
      runId: run.runId,
      reason: `nothing was new: ${run.runId} trained this job on digits@1, and made ${job.registerAs} version 1`,
    });
    expect(await scene.runs()).toHaveLength(1);
  });

  it("of a schedule is its time: late, doubled and out of order it is one run for all", async () => {
    await scene.trigger({ name: "nightly", on: { type: "schedule", expression: "rate(1 hour)" } });
    const [one, two] = ["2026-01-01T13:00:00.000Z", "2026-01-01T14:00:00.000Z"];
    for (const at of [two, one, one, two]) await fire(scene.dependencies, "nightly", scheduled(at!));
    expect((await scene.runs()).map(({ cause }) => cause?.id)).toEqual([`schedule:${two}`]);
  });
});

describe("limits", () => {
  it("two concurrent causes do not both pass a limit of one", async () => {
    await scene.trigger({ concurrency: "queue" });
    const causes = [await scene.push(101), await scene.push(102), await scene.push(103)];
    const records = await Promise.all(causes.map((cause) => fire(scene.dependencies, "on-digits", cause)));
    expect(records.map((record) => record?.state).sort()).toEqual(["submitted", "waiting", "waiting"]);
    const [run] = await scene.runs();
    await scene.platform.runs.close(run!.runId, { status: "completed", at: "2026-01-01T13:00:00.000Z" });
    for (const cause of causes) await fire(scene.dependencies, "on-digits", cause);
    expect(await scene.runs()).toHaveLength(run?.dataset.version === 4 ? 1 : 2);
  });
});

it("a rule that says something else runs what it says then", async () => {
  await scene.trigger();
  await updateTrigger(
    scene.dependencies,
    triggerDefinitionSchema.parse({
      name: "on-digits",
      on: { type: "dataset", dataset: "digits" },
      start: { job: jobInput({ evaluation: {}, seed: 7 }) },
    }),
    { by: "ada" },
  );
  await fire(scene.dependencies, "on-digits", await scene.push(101));
  expect((await scene.runs()).map(({ job }) => job.seed)).toEqual([7]);
});
