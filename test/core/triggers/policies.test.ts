import type { Cause, CauseRecord } from "../../../core/triggers/cause";
import { fire, fireWaiting } from "../../../core/triggers/fire";
import type { Trigger } from "../../../core/triggers/trigger";
import { receiveWebhook, signatureOf } from "../../../core/triggers/webhook";
import { sweep } from "../../../lambdas/fire-triggers/fire-triggers";
import { useEmbedded } from "../../support/embedded";
import { drawer } from "../../support/kills";
import { createScene, type Scene } from "./scene";

const embedded = useEmbedded();
let scene: Scene;
let teams = 0;
beforeEach(async () => {
  teams += 1;
  scene = await createScene(embedded, `policy-${teams}`);
});

const states = async (name = "on-digits") => {
  const { items } = await scene.platform.triggers.listCauses(name, { limit: 100 });
  return Object.fromEntries(items.map(({ id, state }) => [id.replace(/^\w+:/, ""), state]));
};
const fireAll = async (causes: readonly Cause[]) => {
  for (const cause of causes) await fire(scene.dependencies, "on-digits", cause);
};
const push = async (count: number) => {
  const causes: Cause[] = [];
  for (let i = 0; i < count; i += 1) causes.push(await scene.push(101 + i));
  return causes;
};
const end = async (version: number) => {
  const run = (await scene.runs()).find(({ dataset }) => dataset.version === version)!;
  await scene.platform.runs.close(run.runId, { status: "completed", at: "2026-01-01T13:00:00.000Z" });
};

describe("while a run of the trigger is open", () => {
  it("queue lets each cause wait, and starts the oldest first", async () => {
    await scene.trigger({ concurrency: "queue" });
    const [two, three, four] = await push(3);
    await fireAll([two!, four!, three!]);
    expect(await states()).toEqual({ "digits@2": "submitted", "digits@3": "waiting", "digits@4": "waiting" });
    await end(2);
    await fireAll([four!]);
    expect(await states()).toMatchObject({ "digits@4": "waiting" });
    for (const version of [3, 4]) {
      await Promise.all([1, 2].map(() => fireWaiting(scene.dependencies, "on-digits")));
      const open = (await scene.runs()).filter(({ status }) => status === "queued");
      expect(open.map(({ dataset }) => dataset.version)).toEqual([version]);
      await end(version);
    }
    expect(await scene.runs()).toHaveLength(3);
  });

  it("skip starts no run, and a later cause after its end starts one", async () => {
    await scene.trigger({ concurrency: "skip" });
    const [two, three, four] = await push(3);
    await fireAll([two!, three!]);
    await end(2);
    await fireAll([three!, four!]);
    expect(await states()).toEqual({ "digits@2": "submitted", "digits@3": "skipped", "digits@4": "submitted" });
  });

  it("replace cancels it, once, also if the process that started it died, and an older cause does not replace a newer", async () => {
    await scene.trigger({ concurrency: "replace" });
    const [two, three, four] = await push(3);
    const executions = { ...scene.dependencies.executions, start: () => Promise.reject(new Error("kill -9")) };
    await expect(fire({ ...scene.dependencies, executions }, "on-digits", two!)).rejects.toThrow("kill -9");
    await Promise.all([1, 2, 3].map(() => fire(scene.dependencies, "on-digits", four!)));
    await fireAll([three!, two!]);
    expect(await states()).toEqual({ "digits@2": "submitted", "digits@3": "skipped", "digits@4": "submitted" });
    const runs = await scene.runs();
    expect(runs.map(({ dataset, status }) => [dataset.version, status]).sort()).toEqual([
      [2, "killed"],
      [4, "queued"],
    ]);
    expect(runs.find(({ status }) => status === "killed")?.failure?.message).toContain(
      "trigger on-digits, for dataset",
    );
  });
});

it("starts one run a cause for 10,000 events, repeated, late and in any order", async () => {
  await scene.trigger();
  const causes = await push(8);
  const draw = drawer(7);
  for (let batch = 0; batch < 400; batch += 1)
    await Promise.all(
      Array.from({ length: 25 }, () => fire(scene.dependencies, "on-digits", causes[draw(causes.length)]!)),
    );
  const versions = (await scene.runs()).map(({ dataset }) => dataset.version).sort();
  expect(versions).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  expect(await scene.platform.triggers.find("on-digits")).toMatchObject({ starts: 8 });
}, 120_000);

describe("late times of a schedule", () => {
  const sweepAll = () =>
    sweep({
      index: scene.deployment.triggerIndex,
      schedules: scene.dependencies.schedules,
      forTeam: (team) => ({ ...scene.deployment.forTeam(team), randomId: scene.dependencies.randomId }),
      onError: (_what, error) => {
        throw error;
      },
    });
  const all = ["00:00", "01:00", "02:00", "03:00"];

  // The stack was down on the night on which Berlin's clock is put forward: 02:30 does not exist there.
  it.each<[Partial<Trigger["catchUp"]>, readonly string[]]>([
    [{ policy: "all" }, all],
    [{ policy: "all", windowMinutes: 90 }, ["02:00", "03:00"]],
    [{ policy: "last" }, ["03:00"]],
    [{ policy: "none" }, []],
  ])("are caught up by %j", async (catchUp, expected) => {
    scene.clock.time = Date.parse("2026-03-28T23:30:00Z");
    await scene.trigger({
      name: "nightly",
      on: { type: "schedule", expression: "cron(0 1,3-5 29 MAR ? *)", timeZone: "Europe/Berlin" },
      catchUp,
    });
    scene.clock.time = Date.parse("2026-03-29T03:10:00Z");
    for (let again = 0; again < 2; again += 1) await sweepAll();
    const started = Object.entries(await states("nightly")).filter(([, state]) => state !== "skipped");
    // The runs of later times have nothing new to train.
    const times = started.map(([at]) => at.slice(11, 16)).sort();
    expect(times).toEqual(expected);
    expect(await scene.runs()).toHaveLength(expected.length === 0 ? 0 : 1);
  });
});

describe("a webhook", () => {
  const body = '{"branch":"main"}';
  const timestamp = () => String(Math.floor(scene.clock.time / 1_000));
  const create = () => scene.create({ name: "hook", on: { type: "webhook" } });
  const send = (secret: string, more: Partial<Parameters<typeof receiveWebhook>[2]> = {}, name = "hook") => {
    const at = more.timestamp ?? timestamp();
    const signature = signatureOf(secret, at, more.body ?? body);
    return receiveWebhook(scene.dependencies, name, { timestamp: at, signature, body, ...more });
  };

  it("starts one run for a signed request, however often it is sent, and has its secret shown once", async () => {
    const { secret } = await create();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    expect(await create()).toEqual({ created: false, trigger: expect.not.objectContaining({ secret }) });
    const records: CauseRecord[] = [];
    for (let again = 0; again < 3; again += 1) records.push(await send(secret!, { timestamp: "1767268860" }));
    expect(new Set(records.map(({ id }) => id)).size).toBe(1);
    expect(records[0]).toMatchObject({ state: "submitted", cause: { type: "webhook", body } });
    expect(await scene.runs()).toHaveLength(1);
  });

  it.each<[string, () => object, string, RegExp]>([
    [
      "another secret",
      () => ({ signature: signatureOf("other", timestamp(), body) }),
      "hook",
      /x-ringmaster-signature/,
    ],
    ["a changed body", () => ({ body: "{}", signature: "sha256=00" }), "hook", /x-ringmaster-signature/],
    ["an old timestamp", () => ({ timestamp: String(scene.clock.time / 1_000 - 301) }), "hook", /within 300 seconds/],
    ["a future timestamp", () => ({ timestamp: String(scene.clock.time / 1_000 + 301) }), "hook", /within 300 seconds/],
    ["no number", () => ({ timestamp: "now" }), "hook", /within 300 seconds/],
    ["an unknown trigger", () => ({}), "nobody", /x-ringmaster-signature/],
    ["a trigger of another kind", () => ({}), "on-digits", /x-ringmaster-signature/],
    ["a large body", () => ({ body: "x".repeat(16_385) }), "hook", /at most 16384 bytes/],
  ])("is refused with %s", async (_what, more, name, message) => {
    const { secret } = await create();
    await scene.trigger();
    await expect(send(secret!, more(), name)).rejects.toThrow(message);
    expect(await scene.runs()).toEqual([]);
  });
});
