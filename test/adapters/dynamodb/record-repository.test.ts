import type { RunRecord } from "../../../core/tracking/shapes";
import { loggedRun } from "../../core/tracking/records/logged-run";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";
import { runOf } from "../../support/fixtures";

let embedded: Embedded;
beforeAll(async () => {
  embedded = await startEmbedded();
});
afterAll(() => embedded.stop());

/** Returns the platform of a new process without a cache. */
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

  it("keep both changes of two processes", async () => {
    const { runId } = (await platform().records.create(loggedRun("run-logged-2"))).record;
    const add = (key: string) =>
      platform().records.change(runId, (before: RunRecord) => ({ ...before, tags: { ...before.tags, [key]: "x" } }));
    await Promise.all(Array.from({ length: 12 }, (_, i) => add(`tag-${i}`)));
    expect(Object.keys((await platform().records.find(runId))?.tags ?? {})).toHaveLength(12);
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
