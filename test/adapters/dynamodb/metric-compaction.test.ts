import { BatchWriteCommand, type DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { MetricRows } from "../../../adapters/dynamodb/metric-rows";
import { createMetricStore, MetricLogs } from "../../../adapters/dynamodb/metric-store";
import type { LogLimits } from "../../../adapters/metric-log/log-state";
import type { MetricSeries } from "../../../core/tracking/metric-store";
import { localConfig } from "../../../stack/settings";
import { useEmbedded } from "../../support/embedded";

/** A segment has 20 batches. With 64 metrics it has 8 groups of two rows each. */
const limits: LogLimits = {
  segment: { batches: 20, bytesPerMetric: 1024, minBytes: 1_000_000, maxBytes: 1_000_000 },
  compaction: { entryPoints: 64, blockPoints: 1_024 },
  inlineBytes: 0,
  batchesPerState: 1_000,
};
const metrics = Array.from({ length: 64 }, (_, i) => `metric-${i}`);
const table = localConfig().tables.metrics;

const at = (step: number): MetricSeries[] =>
  metrics.map((metric) => ({ metric, steps: [step], values: [step], times: [step] }));

describe("compaction of metrics", () => {
  const embedded = useEmbedded();

  /** A store whose rows that only compaction writes are counted, and can be refused or held up. */
  function openStore() {
    const compaction = { rows: 0, refuses: false, hold: undefined as Promise<void> | undefined };
    const send = async (command: never) => {
      const sent: unknown = command;
      if (sent instanceof BatchWriteCommand) {
        if (compaction.refuses) throw new Error("refused");
        compaction.rows += sent.input.RequestItems![table]!.length;
        await compaction.hold;
      }
      return embedded.dynamodb.send(command);
    };
    const logs = new MetricLogs(new MetricRows({ send } as unknown as DynamoDBDocumentClient, table), limits);
    const identify = async (runId: string) => ({ runId, team: "t", experimentId: "0", source: "logged" as const });
    return { compaction, logs, store: createMetricStore(logs, "t", { identify, changes: { mark: async () => {} } }) };
  }

  const compactedOf = async (runId: string): Promise<number> => {
    const key = { pk: `RUN#${runId}`, sk: "HEAD" };
    return Number((await embedded.dynamodb.send(new GetCommand({ TableName: table, Key: key }))).Item!["compacted"]);
  };

  it("is done by the call that closes a segment", async () => {
    const { compaction, logs, store } = openStore();
    const rows: number[] = [];
    for (let step = 0; step < 45; step += 1) {
      compaction.rows = 0;
      await store.append("even", at(step));
      rows.push(compaction.rows);
    }
    expect(rows.flatMap((count, step) => (count > 0 ? [[step, count]] : []))).toEqual([
      [19, 16],
      [39, 16],
    ]);
    expect(await compactedOf("even")).toBe(40);
    const { loose, entries } = await logs.open("even").series("metric-63");
    expect([loose.length, entries.map(({ count }) => count)]).toEqual([5, [20, 20]]);
  });

  it("of one run does not hold up the calls of others, which compact later", async () => {
    const { compaction, store } = openStore();
    for (let step = 0; step < 19; step += 1)
      await Promise.all(["one", "two"].map((run) => store.append(run, at(step))));
    let release = () => {};
    compaction.hold = new Promise((resolve) => {
      release = resolve;
    });
    let isAnswered = false;
    const held = store.append("one", at(19)).then(() => {
      isAnswered = true;
    });
    while (compaction.rows === 0) await new Promise((resolve) => setImmediate(resolve));
    await store.append("two", at(19));
    expect([isAnswered, await compactedOf("two")]).toEqual([false, 0]);
    release();
    await held;
    await store.append("two", at(20));
    expect([await compactedOf("one"), await compactedOf("two")]).toEqual([20, 20]);
  });

  it("that fails affects neither writers nor readers, and a later call compacts all that is left", async () => {
    const { compaction, store } = openStore();
    compaction.refuses = true;
    for (let step = 0; step < 50; step += 1) {
      await store.append("late", at(step));
      if (step % 9 === 0) expect(await store.read("late", "metric-7")).toHaveLength(step + 1);
    }
    expect(await compactedOf("late")).toBe(0);
    compaction.refuses = false;
    await store.append("late", at(50));
    expect([await compactedOf("late"), compaction.rows]).toEqual([40, 32]);
    expect(await openStore().store.read("late", "metric-7")).toHaveLength(51);
  });
});
