import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { GroupCommit } from "../../../adapters/dynamodb/group-commit";
import type { Platform } from "../../../adapters/platform";
import { localConfig } from "../../../stack/settings";
import { loggedRun } from "../../core/tracking/records/logged-run";
import { createTestPlatform, useEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

const embedded = useEmbedded();

const platform = () => createTestPlatform(embedded).platform;

describe("records of logged runs", () => {
  it("are created once, found, and changed under their revision", async () => {
    const { records } = platform();
    const record = loggedRun("run-logged-1", { params: { depth: "3" }, tags: { a: "1" } });
    expect(await records.create(record)).toEqual({ created: true, record, pointsStored: false });
    expect(await platform().records.create({ ...record, name: "another" })).toEqual({
      created: false,
      record,
      pointsStored: false,
    });
    const changed = await records.change(record.runId, (before) => ({ ...before, tags: { ...before.tags, b: "2" } }));
    expect(changed).toEqual({ ...record, tags: { a: "1", b: "2" }, revision: 2 });
    expect(await platform().records.find(record.runId)).toEqual(changed);
    expect(await records.change(record.runId, () => undefined)).toEqual(changed);
  });
});

describe("records of training runs", () => {
  it("are created with the run and follow its changes", async () => {
    const { runs, records, experiments } = platform();
    const run = runOf("run-trained-1");
    await runs.create(run);
    const experiment = await experiments.findByName(run.job.experiment);
    expect(await records.find(run.runId)).toMatchObject({
      runId: run.runId,
      experimentId: experiment?.experimentId,
      source: "training",
      status: "queued",
      params: { "hyperparameters.learningRate": "0.001", "model.hidden": expect.any(String) },
    });
  });
});

const receipt = { writer: "test", sequence: 0 };
const points = (...metrics: string[]) => ({
  receipt,
  series: metrics.map((metric) => ({ metric, steps: [0], values: [1], times: [5] })),
});

describe("runs that are created together", () => {
  it("all exist, with their marks, points and parents", async () => {
    const { records, metrics, changes, clock } = platform();
    const ids = Array.from({ length: 120 }, (_, i) => `run-together-${i}`);
    const parentRunId = ids[0] as string;
    const made = await Promise.all(
      ids.map((runId) => records.create(loggedRun(runId, { parentRunId }), { firstPoints: points("loss", "loss-2") })),
    );
    expect(made.every(({ created, pointsStored }) => created && pointsStored)).toBe(true);
    expect(await platform().records.findMany(ids)).toHaveLength(120);
    const summaries = await metrics.summariesOf(ids);
    expect(summaries.size).toBe(120);
    expect(summaries.get(ids[7] as string)?.map(({ metric, last }) => [metric, last])).toEqual([
      ["loss", 1],
      ["loss-2", 1],
    ]);
    const marked = await changes.since("0", clock.now() - 60_000);
    expect(marked.filter((id) => id.startsWith("run-together-")).sort()).toEqual([...ids].sort());
    expect(await records.children(parentRunId)).toHaveLength(120);
    // The created log continues like any other: the receipt is known, and more points can be added.
    const runId = ids[3] as string;
    expect(await platform().metrics.append(runId, points("loss").series, receipt)).toEqual({ duplicate: true });
    await platform().metrics.append(runId, [{ metric: "loss", steps: [1], values: [0.5], times: [6] }]);
    expect((await platform().metrics.read(runId, "loss")).map(({ step, value }) => [step, value])).toEqual([
      [0, 1],
      [1, 0.5],
    ]);
  });

  it("are created once by concurrent requests, which do not block each other", async () => {
    const { records } = platform();
    await records.create(loggedRun("run-there"));
    const requested = ["run-there", "run-new-1", "run-new-1", "run-new-2", "run-there", "run-new-3"];
    const made = await Promise.all(requested.map((runId) => records.create(loggedRun(runId))));
    expect(made.map(({ created }) => created)).toEqual([false, true, false, true, false, true]);
  });

  it("are created without their first points if these do not fit", async () => {
    const { records } = platform();
    const many = points(...Array.from({ length: 300 }, (_, i) => `a-metric-with-a-long-name-${i}`));
    const made = await records.create(loggedRun("run-many-points"), { firstPoints: many });
    expect(made).toMatchObject({ created: true, pointsStored: false });
  });

  it("have all rows or none, and each waiting caller gets the failure", async () => {
    const table = localConfig().tables.catalog;
    const creations = new GroupCommit(embedded.dynamodb);
    const put = (pk: string, sk: string) => ({
      TableName: table,
      Item: { pk, sk },
      ConditionExpression: "attribute_not_exists(pk)",
    });
    expect(await creations.write({ key: "x", bytes: 10, puts: [put("X", "1")] })).toBe(true);
    const half = creations.write({ key: "y", bytes: 10, puts: [put("Y", "1"), put("X", "1")] });
    const whole = creations.write({ key: "z", bytes: 10, puts: [put("Z", "1")] });
    expect(await Promise.all([half, whole])).toEqual([false, true]);
    const row = await embedded.dynamodb.send(new GetCommand({ TableName: table, Key: { pk: "Y", sk: "1" } }));
    expect(row.Item).toBeUndefined();
    const nowhere = () =>
      creations.write({ key: "n", bytes: 1, puts: [{ TableName: "none", Item: { pk: "a", sk: "b" } }] });
    const ends = await Promise.allSettled([nowhere(), nowhere(), nowhere()]);
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(await creations.write({ key: "w", bytes: 10, puts: [put("W", "1")] })).toBe(true);
  });
});

/** A process first uses the record that it wrote last. Another process may have changed it in the meantime. */
describe("a record in a process's cache", () => {
  let here: Platform;
  let there: Platform;
  beforeAll(() => {
    [here, there] = [createTestPlatform(embedded).platform, createTestPlatform(embedded).platform];
  });

  const withTag = (platform: Platform, runId: string, key: string) =>
    platform.records.change(runId, (record) => ({ ...record, tags: { ...record.tags, [key]: "1" } }));

  it("loses no change of another process", async () => {
    await here.records.create(loggedRun("r-1"));
    await withTag(there, "r-1", "there");
    await withTag(here, "r-1", "here");
    await withTag(here, "r-1", "again");
    await withTag(there, "r-1", "late");
    const record = await here.records.find("r-1");
    expect(Object.keys(record!.tags)).toEqual(expect.arrayContaining(["there", "here", "again", "late"]));
    expect(record!.revision).toBe(5);
  });

  it("refuses no change because of an outdated record", async () => {
    await here.records.create(loggedRun("r-2"));
    await here.records.change("r-2", (record) => ({ ...record, lifecycle: "deleted" }));
    await there.records.change("r-2", (record) => ({ ...record, lifecycle: "active" }));
    const renamed = await here.records.change("r-2", (record) => {
      if (record.lifecycle === "deleted") throw new Error("is deleted");
      return { ...record, name: "kept" };
    });
    expect(renamed).toMatchObject({ name: "kept", lifecycle: "active" });
  });

  it("skips no change because of an outdated record", async () => {
    await here.records.create({ ...loggedRun("r-3"), name: "first" });
    await there.records.change("r-3", (record) => ({ ...record, name: "second" }));
    await here.records.change("r-3", (record) => (record.name === "first" ? undefined : { ...record, name: "first" }));
    expect((await there.records.find("r-3"))?.name).toBe("first");
  });

  it("loses none of many concurrent changes", async () => {
    await here.records.create(loggedRun("r-4"));
    await Promise.all(Array.from({ length: 20 }, (_, i) => withTag(i % 2 ? here : there, "r-4", `t${i}`)));
    const { tags } = (await here.records.find("r-4"))!;
    expect(Array.from({ length: 20 }, (_, i) => tags[`t${i}`])).toEqual(Array(20).fill("1"));
  });
});
