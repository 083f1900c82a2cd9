import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import fc from "fast-check";
import { MetricRows } from "../../../adapters/dynamodb/metric-rows";
import { createMetricStore, MetricLogs } from "../../../adapters/dynamodb/metric-store";
import type { LogLimits } from "../../../adapters/metric-log/log-state";
import type { MetricPoint, MetricSeries, MetricStore } from "../../../core/tracking/metric-store";
import { localConfig } from "../../../stack/settings";
import { useEmbedded } from "../../support/embedded";
import { bySteps, inTime, naivePoints, naiveSummaries } from "../../support/naive-metrics";
import { rounds } from "../../support/rounds";

/** So small that a few dozen points are inline, batched, compacted and spread over many blocks. */
const limits: LogLimits = {
  segment: { batches: 5, bytesPerMetric: 60, minBytes: 100, maxBytes: 300 },
  compaction: { entryPoints: 3, blockPoints: 5 },
  inlineBytes: 700,
  batchesPerState: 3,
};

const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -4, max: 4 }) },
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, 5e-324),
);
const point = fc.record({
  step: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: -3, max: 40 }) },
    fc.constantFrom(2 ** 53 - 1, -(2 ** 53) + 1),
  ),
  value,
  time: fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 6 }) }, fc.constantFrom(1_767_259_800_000, 0.5)),
});
const metric = fc.constantFrom("loss", "loss2", "system/worker-0/rss", "ä b", "x".repeat(250));
const someSeries = fc
  .tuple(metric, fc.array(point, { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([name, points, ordered]) => seriesOf(name, ordered ? [...points].sort((a, b) => a.step - b.step) : points));

function seriesOf(name: string, points: readonly MetricPoint[]): MetricSeries {
  return {
    metric: name,
    steps: points.map(({ step }) => step),
    values: points.map((one) => one.value),
    times: points.map(({ time }) => time),
  };
}

const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      calls: fc.array(fc.array(someSeries, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("again" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("read" as const), metric }) },
);
/** A fault of a request to the table: the request or its answer is lost. */
const fault = fc.oneof(
  { weight: 10, arbitrary: fc.constant("none" as const) },
  fc.constantFrom("before" as const, "after" as const),
);

function failing(client: DynamoDBDocumentClient, faults: readonly string[]): DynamoDBDocumentClient {
  let at = 0;
  return {
    send: async (command: never) => {
      const what = faults[at++ % faults.length];
      if (what === "before") throw new Error("lost before");
      const answer = await client.send(command);
      if (what === "after") throw new Error("lost after");
      return answer;
    },
  } as unknown as DynamoDBDocumentClient;
}

describe("metrics in DynamoDB with any faults", () => {
  const embedded = useEmbedded();
  let runs = 0;

  function openProcess(client: DynamoDBDocumentClient, source: "training" | "logged"): MetricStore {
    const logs = new MetricLogs(new MetricRows(client, localConfig().tables.metrics), limits);
    const identify = async (runId: string) => ({ runId, team: "t", experimentId: "0", source });
    return createMetricStore(logs, "t", { identify, changes: { mark: async () => undefined } });
  }

  it("no point is lost or doubled", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("training" as const, "logged" as const),
        fc.array(operation, { minLength: 1, maxLength: 24 }),
        fc.array(fault, { minLength: 7, maxLength: 40 }),
        fc.integer({ min: 1, max: 30 }),
        async (source, operations, faults, pageSize) => {
          const runId = `run-${runs++}`;
          const lossy = failing(embedded.dynamodb, [...faults, "none"]);
          // Two processes with the same run. Each may be replaced by a new process.
          const processes = [openProcess(lossy, source), openProcess(lossy, source)];
          const until = async <T>(work: (store: MetricStore) => Promise<T>): Promise<T> => {
            for (let attempt = 0; attempt < 50; attempt += 1) {
              try {
                return await work(processes[attempt % 2]!);
              } catch (error) {
                if (!/^lost/.test((error as Error).message)) throw error;
              }
            }
            return work(openProcess(embedded.dynamodb, source));
          };
          const written: MetricSeries[] = [];
          let sequence = 0;
          for (const [i, operation] of operations.entries()) {
            if (operation.kind === "restart") processes[i % 2] = openProcess(lossy, source);
            else if (operation.kind === "read") {
              const points = await until((store) => store.read(runId, operation.metric));
              expect(points).toEqual(naivePoints(written, operation.metric, source));
            } else if (operation.kind === "again") {
              if (written.length > 0) await until((store) => store.append(runId, written.slice(-2)));
            } else {
              await Promise.all(
                operation.calls.map(async (series, call) => {
                  sequence += 1;
                  const receipt = { writer: `w${call}`, sequence };
                  processes.reverse();
                  await until((store) => store.append(runId, series, call % 2 === 0 ? receipt : undefined));
                }),
              );
              written.push(...operation.calls.flat());
            }
          }
          const store = openProcess(embedded.dynamodb, source);
          const summaries = naiveSummaries(written);
          expect(await store.summaries(runId)).toEqual(summaries);
          const many = await store.summariesOf([runId, "nothing"]);
          expect(many.get(runId) ?? []).toEqual(summaries);
          expect(await processes[0]!.summaries(runId).catch(() => summaries)).toEqual(summaries);
          for (const { metric } of summaries) {
            const points = naivePoints(written, metric, source);
            expect(await store.read(runId, metric)).toEqual(points);
            await checkHistory(store, runId, metric, points, pageSize);
            await checkView(store, runId, metric, points, pageSize);
            const [from, to] = [points[points.length >> 2]!.step, points[(3 * points.length) >> 2]!.step];
            const inside = points.filter(({ step }) => step >= from && step <= to);
            await checkView(store, runId, metric, inside, pageSize, { fromStep: from, toStep: to });
          }
        },
      ),
      { numRuns: rounds(10, 200), seed: 20_260_101 },
    );
  });
});

async function checkHistory(
  store: MetricStore,
  runId: string,
  metric: string,
  points: readonly MetricPoint[],
  limit: number,
): Promise<void> {
  const read: MetricPoint[] = [];
  let token: string | undefined;
  do {
    const page = await store.history(runId, metric, token === undefined ? { limit } : { limit, token });
    expect(page.points.length).toBeLessThanOrEqual(limit);
    read.push(...page.points);
    token = page.nextToken;
  } while (token !== undefined);
  expect(read).toEqual([...points].sort(inTime));
}

async function checkView(
  store: MetricStore,
  runId: string,
  metric: string,
  points: readonly MetricPoint[],
  most: number,
  range?: { readonly fromStep: number; readonly toStep: number },
): Promise<void> {
  const view = await store.downsample(runId, metric, most, range);
  expect(view.total).toBe(points.length);
  expect(view.points.length).toBeLessThanOrEqual(most);
  if (points.length <= most) return expect(view.points).toEqual(points);
  expect([...view.points].sort(bySteps)).toEqual(view.points);
  for (const point of view.points) expect(points).toContainEqual(point);
  expect(view.points.at(-1)).toEqual(points.at(-1));
  if (most >= 2) expect(view.points[0]).toEqual(points[0]);
  if (most < 4) return;
  const numbers = (some: readonly MetricPoint[]) => some.map(({ value }) => value).filter((one) => !Number.isNaN(one));
  expect(Math.min(...numbers(view.points))).toBe(Math.min(...numbers(points)));
  expect(Math.max(...numbers(view.points))).toBe(Math.max(...numbers(points)));
}
