import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { MetricLogs } from "../../adapters/dynamodb/metric-logs";
import { MetricRows } from "../../adapters/dynamodb/metric-rows";
import { createMetricStore } from "../../adapters/dynamodb/metric-store";
import type { MetricSeries } from "../../core/tracking/metric-batch";
import { localConfig } from "../../local/settings";
import { startEmbedded } from "../../test/support/embedded";
import { parseOptions } from "../support/arguments";
import { median } from "../support/median";
import { startReport } from "../support/report";
import { countingClient } from "./counting";

interface Case {
  readonly name: string;
  readonly metrics: number;
  /** Number of points of each metric. */
  readonly points: number;
  /** Steps of each metric in a call. */
  readonly stepsPerCall: number;
}

const cases: readonly Case[] = [
  { name: "one metric, 500 steps a call", metrics: 1, points: 1_000_000, stepsPerCall: 500 },
  { name: "one metric, 100 steps a call", metrics: 1, points: 1_000_000, stepsPerCall: 100 },
  { name: "500 metrics, a step a call", metrics: 500, points: 2_000, stepsPerCall: 1 },
];
const viewPoints = 1_000;
const views = 9;

interface Measured {
  readonly name: string;
  readonly points: number;
  readonly itemsWritten: number;
  readonly secondsWriting: number;
  /** Median milliseconds. `cold`: in a process that has not read the run before. */
  readonly view: { readonly cold: number; readonly warm: number; readonly items: number };
  readonly zoomed: number;
  readonly all: { readonly milliseconds: number; readonly items: number; readonly points: number };
}

/** Measures a million points of a run: their number of items, and the time of a view of a thousand and of reading them all. */
export async function benchPoints(args: readonly string[]): Promise<void> {
  const values = parseOptions(args, { share: 1 });
  const report = startReport(values.json);
  const embedded = await startEmbedded();
  const results: Measured[] = [];
  try {
    for (const one of cases) {
      results.push(await measure(embedded.dynamodb, { ...one, points: Math.round(one.points * values.share) }));
    }
  } finally {
    await embedded.stop();
  }
  report({ results }, "", tableOf(results));
}

async function measure(dynamodb: DynamoDBDocumentClient, one: Case): Promise<Measured> {
  const counted = countingClient(dynamodb);
  const open = () => {
    const logs = new MetricLogs(new MetricRows(counted.client, localConfig().tables.metrics));
    const identify = async (runId: string) => ({ runId, team: "t", experimentId: "0", source: "logged" as const });
    return createMetricStore(logs, "t", { identify, changes: { mark: async () => undefined } });
  };
  const runId = one.name.replaceAll(" ", "-");
  const metric = (i: number) => `layer_${i % 50}/statistic_${i}`;
  const writer = open();
  const startedAt = performance.now();
  for (let first = 0; first < one.points; first += one.stepsPerCall) {
    const steps = Array.from({ length: Math.min(one.stepsPerCall, one.points - first) }, (_, i) => first + i);
    const series = Array.from(
      { length: one.metrics },
      (_, i): MetricSeries => ({
        metric: metric(i),
        steps,
        values: steps.map((step) => Math.sin(step / 1_000) + Math.random() / 10),
        times: steps.map((step) => 1_767_259_800_000 + 37 * step),
      }),
    );
    await writer.append(runId, series);
  }
  const secondsWriting = (performance.now() - startedAt) / 1000;
  const itemsWritten = counted.written();

  const wanted = metric(one.metrics >> 1);
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const before = performance.now();
    await work();
    return performance.now() - before;
  };
  const times = async (work: () => Promise<unknown>): Promise<number> => {
    const taken: number[] = [];
    for (let i = 0; i < views; i += 1) taken.push(await timed(work));
    return median(taken);
  };
  counted.reset();
  const cold = await times(() => open().downsample(runId, wanted, viewPoints));
  const items = Math.round(counted.read() / views);
  const warm = await times(() => writer.downsample(runId, wanted, viewPoints));
  const [fromStep, toStep] = [Math.round(one.points * 0.4), Math.round(one.points * 0.42)];
  const zoomed = await times(() => writer.downsample(runId, wanted, viewPoints, { fromStep, toStep }));
  counted.reset();
  let points = 0;
  const milliseconds = await timed(async () => {
    points = (await open().read(runId, wanted)).length;
  });
  return {
    name: one.name,
    points: one.metrics * one.points,
    itemsWritten,
    secondsWriting,
    view: { cold, warm, items },
    zoomed,
    all: { milliseconds, items: counted.read(), points },
  };
}

function tableOf(results: readonly Measured[]): string {
  const rows = results.map(
    ({ name, points, itemsWritten, secondsWriting, view, zoomed, all }) =>
      `| ${name} | ${points} | ${itemsWritten} (1/${Math.round(points / itemsWritten)}) | ${secondsWriting.toFixed(1)} | ${view.cold.toFixed(0)}, ${view.warm.toFixed(0)} (${view.items}) | ${zoomed.toFixed(0)} | ${all.milliseconds.toFixed(0)} (${all.items}; ${all.points} points) |`,
  );
  return [
    `| run | points | items written | s writing | ms for a view of ${viewPoints}, cold, warm (items read) | of 2 % of the steps | ms for all of the metric (items read) |`,
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
