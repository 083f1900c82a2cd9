import { GetCommand } from "@aws-sdk/lib-dynamodb";
import { GroupCommit } from "../../../adapters/dynamodb/group-commit";
import { localConfig } from "../../../local/ringmaster/settings";
import { loggedRun } from "../../core/tracking/records/logged-run";
import { createTestPlatform, type Embedded, startEmbedded } from "../../support/embedded";

let embedded: Embedded;
beforeAll(async () => {
  embedded = await startEmbedded();
});
afterAll(() => embedded.stop());

const platform = () => createTestPlatform(embedded).platform;
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
    expect([...(await changes.since("0", clock.now() - 60_000))].sort()).toEqual([...ids].sort());
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
