import type { Cause } from "../../../core/triggers/cause";
import { fire } from "../../../core/triggers/fire";
import { createTrigger, deleteTrigger, getTrigger, setEnabled, updateTrigger } from "../../../core/triggers/lifecycle";
import {
  scheduledTimes,
  type Trigger,
  type TriggerDefinitionInput,
  triggerDefinitionSchema,
} from "../../../core/triggers/trigger";
import { sweep } from "../../../lambdas/fire-triggers/fire-triggers";
import { useEmbedded } from "../../support/embedded";
import { jobInput } from "../../support/fixtures";
import { createScene, minute, type Scene } from "./scene";

const embedded = useEmbedded();
let scene: Scene;
let teams = 0;
beforeEach(async () => {
  teams += 1;
  scene = await createScene(embedded, `life-${teams}`);
});

const nightly: Partial<TriggerDefinitionInput> = {
  name: "nightly",
  on: { type: "schedule", expression: "cron(0 3 * * ? *)", timeZone: "Europe/Berlin" },
};
const definition = (more: Partial<TriggerDefinitionInput>) =>
  triggerDefinitionSchema.parse({
    name: "on-digits",
    on: { type: "dataset", dataset: "digits" },
    start: { job: jobInput({ evaluation: {} }) },
    ...more,
  });
const scheduled = () => scene.calls.schedules.get(`${scene.platform.team}.nightly`);
const runSweep = async () => {
  const errors: unknown[] = [];
  const { deployment, dependencies } = scene;
  await sweep({
    index: deployment.triggerIndex,
    schedules: dependencies.schedules,
    forTeam: (team) => ({ ...deployment.forTeam(team), team, randomId: dependencies.randomId }),
    onError: (_what, error) => errors.push(error),
  });
  expect(errors).toEqual([]);
};

describe("a rule's life", () => {
  it("is made once; another one of its name is refused; after its end the name is free again", async () => {
    const make = (more: Partial<TriggerDefinitionInput> = {}) =>
      createTrigger(scene.dependencies, definition(more), { by: "ada" });
    expect(await make()).toMatchObject({ created: true, trigger: { revision: 1, createdBy: "ada" } });
    expect(await make()).toMatchObject({ created: false, trigger: { revision: 1 } });
    await expect(make({ cooldownMinutes: 5 })).rejects.toMatchObject({ code: "TRIGGER_EXISTS" });
    const { deletedAt, updatedBy } = await deleteTrigger(scene.dependencies, "on-digits", "grace");
    expect([deletedAt, updatedBy]).toEqual([expect.any(String), "grace"]);
    expect((await deleteTrigger(scene.dependencies, "on-digits", "ada")).deletedAt).toBe(deletedAt);
    await expect(setEnabled(scene.dependencies, "on-digits", true, "ada")).rejects.toMatchObject({
      code: "TRIGGER_NOT_FOUND",
    });
    expect((await scene.platform.triggers.list({ limit: 10 })).items).toEqual([]);
    expect(await make({ cooldownMinutes: 5 })).toMatchObject({
      created: true,
      trigger: { revision: 3, enabled: true },
    });
  });

  it("keeps every one of many concurrent changes", async () => {
    await scene.trigger();
    const changes = Array.from({ length: 6 }, (_, i) =>
      i % 2 === 0
        ? updateTrigger(scene.dependencies, definition({ cooldownMinutes: i + 1 }), { by: "ada" })
        : setEnabled(scene.dependencies, "on-digits", false, "ada", `reason ${i}`),
    );
    await Promise.all(changes);
    expect((await getTrigger(scene.platform.triggers, "on-digits")).trigger.revision).toBe(7);
  });

  it("is found by its present on, and no longer by the previous one", async () => {
    await scene.trigger({ on: { type: "drift", monitor: "inputs" } });
    const { triggers } = scene.platform;
    expect(await triggers.triggersOn("drift", "inputs")).toEqual(["on-digits"]);
    await updateTrigger(scene.dependencies, definition({}), { by: "ada" });
    expect(await triggers.triggersOn("drift", "inputs")).toEqual([]);
    expect(await triggers.triggersOn("dataset", "digits")).toEqual(["on-digits"]);
    await deleteTrigger(scene.dependencies, "on-digits", "ada");
    expect(await triggers.triggersOn("dataset", "digits")).toEqual([]);
  });

  const letters = {
    on: { type: "dataset", dataset: "letters" },
    start: { job: jobInput({ dataset: "letters" }) },
  } as const;
  const colours = { start: { job: jobInput({ evaluation: { slices: ["colour"] } }) } };
  it.each<[string, Partial<TriggerDefinitionInput>, RegExp]>([
    ["a dataset that there is not", letters, /no dataset "letters"/],
    ["a slice that it lacks", colours, /start.job.evaluation.slices.0 is "colour", but must be a column of digits@1/],
  ])("is refused for %s", async (_what, more, message) => {
    await expect(scene.trigger(more)).rejects.toThrow(message);
    expect(await scene.platform.triggers.find("on-digits")).toBeUndefined();
  });

  it("starts again each time that it is enabled", async () => {
    await scene.trigger();
    await setEnabled(scene.dependencies, "on-digits", false, "ada");
    const missed = await scene.push(101);
    scene.clock.time += minute;
    await setEnabled(scene.dependencies, "on-digits", true, "ada");
    await runSweep();
    expect(await scene.runs()).toEqual([]);
    expect(await fire(scene.dependencies, "on-digits", missed)).toMatchObject({
      state: "skipped",
      reason: expect.stringContaining("before the trigger was in force"),
    });
  });
});

describe("its schedule", () => {
  it("is made, changed, stopped and removed with it", async () => {
    await scene.trigger(nightly);
    expect(scheduled()).toMatchObject({ on: { timeZone: "Europe/Berlin" }, enabled: true });
    await setEnabled(scene.dependencies, "nightly", false, "ada");
    expect(scheduled()).toMatchObject({ enabled: false });
    await setEnabled(scene.dependencies, "nightly", true, "ada");
    await updateTrigger(scene.dependencies, definition({ name: "nightly" }), { by: "ada" });
    expect(scheduled()).toBeUndefined();
    await updateTrigger(scene.dependencies, definition(nightly), { by: "ada" });
    expect(scheduled()).toMatchObject({ revision: 5 });
    await deleteTrigger(scene.dependencies, "nightly", "ada");
    expect(scheduled()).toBeUndefined();
  });

  it("comes to be what the row says where a process died in between", async () => {
    const { schedules } = scene.dependencies;
    const dying = {
      ...scene.dependencies,
      schedules: {
        ...schedules,
        put: () => Promise.reject(new Error("kill -9")),
        delete: () => Promise.reject(new Error("kill -9")),
      },
    };
    await expect(createTrigger(dying, definition(nightly), { by: "ada" })).rejects.toThrow("kill -9");
    expect(scheduled()).toBeUndefined();
    await runSweep();
    expect(scheduled()).toMatchObject({ revision: 1 });
    await expect(deleteTrigger(dying, "nightly", "ada")).rejects.toThrow("kill -9");
    expect(scheduled()).toBeDefined();
    await runSweep();
    expect(scheduled()).toBeUndefined();
  });

  it("is the last one's where two change it at once", async () => {
    await scene.trigger(nightly);
    const { schedules } = scene.dependencies;
    /** Puts the first revision that it is given when the second has been put. */
    let release: () => void = () => undefined;
    const slow = {
      ...scene.dependencies,
      schedules: {
        ...schedules,
        put: async (trigger: Parameters<typeof schedules.put>[0]) => {
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          await schedules.put(trigger);
        },
      },
    };
    const first = updateTrigger(slow, definition({ ...nightly, cooldownMinutes: 1 }), { by: "ada" });
    while ((await getTrigger(scene.platform.triggers, "nightly")).trigger.revision === 1)
      await new Promise((tick) => setTimeout(tick, 2));
    await updateTrigger(scene.dependencies, definition({ ...nightly, cooldownMinutes: 2 }), { by: "ada" });
    const done = first.then(() => true);
    // The old one is put over the new one, sees that it is old, and is put right.
    while (!(await Promise.race([done, new Promise<false>((tick) => setTimeout(() => tick(false), 2))]))) release();
    expect(scheduled()).toMatchObject({ revision: 3, cooldownMinutes: 2 });
  });

  it("says when it fires next", async () => {
    const trigger = await scene.trigger(nightly);
    const berlin = (expression: string) => ({ ...trigger, on: { ...trigger.on, expression } as Trigger["on"] });
    const timesAfter = (from: string, of: Trigger, max: number) =>
      scheduledTimes(of, Date.parse(from), max).map((time) => new Date(time).toISOString().slice(0, 16));
    // 02:30 does not exist on 29 March, and exists twice on 25 October.
    expect(timesAfter("2026-03-28T12:00:00Z", trigger, 2)).toEqual(["2026-03-29T01:00", "2026-03-30T01:00"]);
    expect(timesAfter("2026-03-28T12:00:00Z", berlin("cron(30 2 * * ? *)"), 1)).toEqual(["2026-03-30T00:30"]);
    expect(timesAfter("2026-10-24T12:00:00Z", berlin("cron(30 2 * * ? *)"), 2)).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    expect(timesAfter("2026-10-24T12:00:00Z", berlin("at(2026-10-25T02:30:00)"), 2)).toEqual(["2026-10-25T00:30"]);
    expect(scheduledTimes({ ...trigger, enabled: false }, 0, 2)).toEqual([]);
  });
});

describe("the sweep", () => {
  it("runs versions whose events were lost, once, and none from before the rule", async () => {
    await scene.trigger();
    const [lost, published] = [await scene.push(101), await scene.push(102)];
    await fire(scene.dependencies, "on-digits", published);
    await runSweep();
    await runSweep();
    await fire(scene.dependencies, "on-digits", lost);
    expect((await scene.runs()).map(({ dataset }) => dataset.version).sort()).toEqual([2, 3]);
  });

  it("goes on with what was begun, and with what waits once it may", async () => {
    await scene.trigger({ cooldownMinutes: 30 });
    const begun = await scene.push(101);
    const dying = {
      ...scene.dependencies,
      executions: { ...scene.dependencies.executions, start: () => Promise.reject(new Error("kill -9")) },
    };
    await expect(fire(dying, "on-digits", begun)).rejects.toThrow("kill -9");
    const waiting: Cause = await scene.push(102);
    expect(await fire(scene.dependencies, "on-digits", waiting)).toMatchObject({ state: "waiting" });
    await runSweep();
    expect((await scene.runs()).map(({ dataset }) => dataset.version)).toEqual([2]);
    scene.clock.time += 40 * minute;
    await runSweep();
    expect((await scene.runs()).map(({ dataset }) => dataset.version)).toEqual([3, 2]);
  });
});
