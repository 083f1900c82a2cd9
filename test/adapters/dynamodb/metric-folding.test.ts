import { BatchWriteCommand, type DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import type { LogLimits } from "../../../adapters/dynamodb/metric-log";
import { MetricLogs } from "../../../adapters/dynamodb/metric-logs";
import { MetricRows } from "../../../adapters/dynamodb/metric-rows";
import type { MetricSeries } from "../../../core/tracking/metric-batch";
import { localConfig } from "../../../local/ringmaster/settings";
import { type Embedded, startEmbedded } from "../../support/embedded";

/** A segment has 20 batches. With 64 metrics it has 8 groups of two rows each. */
const limits: LogLimits = {
  segment: { batches: 20, bytesPerMetric: 1024, minBytes: 1_000_000, maxBytes: 1_000_000 },
  fold: { entryPoints: 64, blockPoints: 1_024 },
  youngBytes: 0,
  batchesPerState: 1_000,
};
const metrics = Array.from({ length: 64 }, (_, i) => `metric-${i}`);
const table = localConfig().tables.metrics;

const at = (step: number): MetricSeries[] =>
  metrics.map((metric) => ({ metric, steps: [step], values: [step], times: [step] }));

/** Creates a client that counts and can refuse the rows that only folding writes. */
function counting(client: DynamoDBDocumentClient) {
  const counts = { rows: 0, refuses: false };
  const send = async (command: never) => {
    const sent: unknown = command;
    if (sent instanceof BatchWriteCommand) {
      if (counts.refuses) throw new Error("refused");
      counts.rows += sent.input.RequestItems![table]!.length;
    }
    return client.send(command);
  };
  return { counts, client: { send } as unknown as DynamoDBDocumentClient };
}

describe("folding of metrics", () => {
  let embedded: Embedded;
  beforeAll(async () => {
    embedded = await startEmbedded();
  });
  afterAll(() => embedded.stop());

  const foldedOf = async (runId: string): Promise<number> => {
    const key = { pk: `RUN#${runId}`, sk: "HEAD" };
    return Number((await embedded.dynamodb.send(new GetCommand({ TableName: table, Key: key }))).Item!["folded"]);
  };

  it("is done by the following calls, a part by each", async () => {
    const { counts, client } = counting(embedded.dynamodb);
    const store = new MetricLogs(new MetricRows(client, table), limits);
    const rows: number[] = [];
    for (let step = 0; step < 110; step += 1) {
      counts.rows = 0;
      await store.append("even", at(step));
      rows.push(counts.rows);
    }
    // There are at most 8 / 20 groups per batch, and twice as many are folded.
    expect(Math.max(...rows)).toBe(2);
    expect(rows.filter((count) => count > 0).length).toBe(5 * 8);
    expect(await foldedOf("even")).toBe(5);
    expect(rows.slice(20, 40).findLastIndex((count) => count > 0)).toBeLessThanOrEqual(12);
  });

  it("is done by other runs' calls if a run stops writing", async () => {
    const store = new MetricLogs(new MetricRows(embedded.dynamodb, table), limits);
    for (let step = 0; step < 20; step += 1) await store.append("silent", at(step));
    expect(await foldedOf("silent")).toBe(0);
    for (let step = 0; step < 80; step += 1)
      await store.append("small", [{ metric: "loss", steps: [step], values: [step], times: [step] }]);
    expect(await foldedOf("silent")).toBe(1);
    const { loose, entries } = await store.series("silent", "metric-63");
    expect([loose.length, entries.map(({ count }) => count)]).toEqual([0, [20]]);
  });

  it("that fails does not affect concurrent readers", async () => {
    const { counts, client } = counting(embedded.dynamodb);
    const store = new MetricLogs(new MetricRows(client, table), limits);
    for (let step = 0; step < 20; step += 1) await store.append("read", at(step));
    counts.refuses = true;
    const written = (async () => {
      for (let step = 20; step < 60; step += 1) await store.append("read", at(step));
    })();
    let done = false;
    void written.then(() => {
      done = true;
    });
    while (!done) {
      const [summaries, { loose }] = await Promise.all([store.summaries("read"), store.series("read", "metric-7")]);
      expect(summaries.length).toBe(metrics.length);
      expect(loose.length).toBeGreaterThanOrEqual(20);
    }
  });

  it("is done by whole segments if much is left, one by each call", async () => {
    const { counts, client } = counting(embedded.dynamodb);
    const store = new MetricLogs(new MetricRows(client, table), limits);
    counts.refuses = true;
    for (let step = 0; step < 95; step += 1) await store.append("late", at(step));
    expect(await foldedOf("late")).toBe(0);
    counts.refuses = false;
    const rows: number[] = [];
    for (let step = 95; step < 98; step += 1) {
      counts.rows = 0;
      await store.append("late", at(step));
      rows.push(counts.rows);
    }
    // Four segments: two calls fold one each, and at most one group of the next.
    expect([Math.max(...rows) <= 8 * 2 + 2, rows.filter((count) => count >= 8 * 2).length]).toEqual([true, 2]);
    expect(await foldedOf("late")).toBe(2);
    for (let step = 98; step < 120; step += 1) await store.append("late", at(step));
    expect(await foldedOf("late")).toBeGreaterThanOrEqual(4);
  });
});
