import { type ApiClient, decodedSummary } from "../../client/api-client";
import { InvalidInputError } from "../../core/errors";
import { formatMetric } from "../../core/quantities";
import type { MetricPoint } from "../../core/tracking/metric-store";
import { metricNameSets } from "../../core/tracking/search/row";
import type { Command } from "../command";
import { printMetrics } from "../metric-table";
import { formatNumber, printJson, printTable } from "../output";

/** Dots of a braille character: two columns and four rows. Unicode 15, table 2800: bit by column and row. */
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

interface CurveSize {
  /** In characters. */
  readonly columns: number;
  readonly rows: number;
}

/** Draws a curve in braille dots, with the ends of its axes. @returns lines; none if no point can be shown */
export function curveLines(
  points: readonly MetricPoint[],
  { columns, rows }: CurveSize,
  label: (value: number) => string,
): string[] {
  const shown = points.filter(({ value }) => Number.isFinite(value));
  if (shown.length === 0) return [];
  const [first, last] = [shown[0]!.step, shown.at(-1)!.step];
  const [least, greatest] = [shown, shown].map((all, i) =>
    all.reduce((best, { value }) => (i === 0 ? Math.min(best, value) : Math.max(best, value)), all[0]!.value),
  ) as [number, number];
  const cells = Array.from({ length: rows }, () => new Array<number>(columns).fill(0));
  const share = (value: number, from: number, to: number) => (to > from ? (value - from) / (to - from) : 0.5);
  for (const { step, value } of shown) {
    const x = Math.round(share(step, first, last) * (2 * columns - 1));
    const y = Math.round((1 - share(value, least, greatest)) * (4 * rows - 1));
    cells[y >> 2]![x >> 1]! |= dots[x & 1]![y & 3]!;
  }
  const labels = cells.map((_, row) => (row === 0 ? label(greatest) : row === rows - 1 ? label(least) : ""));
  const width = Math.max(...labels.map((text) => text.length));
  const lines = cells.map(
    (row, i) => `${labels[i]!.padStart(width)} ┤${row.map((bits) => String.fromCharCode(0x2800 + bits)).join("")}`,
  );
  const [left, right] = [String(first), String(last)];
  const steps = first === last ? left : `${left}${right.padStart(Math.max(columns - left.length, right.length + 1))}`;
  return [...lines, `${" ".repeat(width + 2)}${steps}`];
}

const curveSize = { columns: 64, rows: 10 };
/** Two points for each column of dots. */
const curvePoints = 4 * curveSize.columns;

interface MetricsOptions {
  readonly metric?: string;
  readonly points?: string;
  readonly fromStep?: string;
  readonly toStep?: string;
}

export function addMetricsCommand(runs: Command): void {
  runs
    .command("metrics <run>")
    .description("show the last, minimum and maximum value of each metric, or the curve of one metric")
    .option("--metric <name>", "show the curve of this metric")
    .option("--points <number>", "with --metric: print at most this many points (downsampling keeps minima and maxima)")
    .option("--from-step <step>", "with --metric: first step")
    .option("--to-step <step>", "with --metric: last step")
    .handle(async ({ client, json }, runId: string, options: MetricsOptions) => {
      checkOptions(options);
      const points = options.points ?? (json || options.metric === undefined ? undefined : String(curvePoints));
      // The API validates the options, for programs and people alike.
      const query = Object.fromEntries(
        Object.entries({ ...options, points }).filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
      const ask = (more: object) => client.call("getRunMetrics", { params: { runId }, query: { ...query, ...more } });
      let answer = await ask({});
      if ("points" in answer && answer.total === 0 && options.metric !== undefined) {
        const metric = await meantMetric(client, runId, options.metric);
        if (metric !== options.metric) answer = await ask({ metric });
      }
      if (json) return printJson(answer);
      if ("metrics" in answer) {
        printMetrics(answer.metrics.map(decodedSummary));
        if (answer.reusedFrom !== undefined) {
          process.stdout.write(`the training and its metrics are reused from ${answer.reusedFrom}\n`);
        }
        return;
      }
      const decoded = answer.points.map((point) => ({ ...point, value: Number(point.value) }));
      const lines = curveLines(decoded, curveSize, (value) => formatMetric(answer.metric, value, formatNumber));
      const what = `${answer.metric}: ${answer.total} ${answer.total === 1 ? "point" : "points"}`;
      process.stdout.write(`${[what, ...(options.points === undefined ? lines : [])].join("\n")}\n`);
      if (options.points === undefined) return;
      printTable(
        ["STEP", "VALUE", "TIME"],
        decoded.map(({ step, value, time }) => [step, formatNumber(value), timeOrNumber(time)]),
      );
    });
}

function checkOptions({ metric, ...ofOne }: MetricsOptions): void {
  const ranges = Object.entries({ "--points": ofOne.points, "--from-step": ofOne.fromStep, "--to-step": ofOne.toStep });
  const [first] = ranges.filter(([, value]) => value !== undefined);
  if (metric !== undefined || first === undefined) return;
  const rule = `is required with ${first[0]}`;
  throw new InvalidInputError("the metrics cannot be shown", [{ path: "--metric", rule }]);
}

/** The metric of that name, or the only one that it abbreviates. @throws InvalidInputError if the run has none */
async function meantMetric(client: ApiClient, runId: string, name: string): Promise<string> {
  const answer = await client.call("getRunMetrics", { params: { runId }, query: {} });
  const names = "metrics" in answer ? answer.metrics.map(({ metric }) => metric) : [];
  const meant = metricNameSets().of(names).resolve(name, false).name;
  if (meant !== undefined) return meant;
  const shown = names.slice(0, 20).join(", ") + (names.length > 20 ? ", …" : "");
  const rule =
    names.length === 0
      ? "must be a metric of the run, but the run has no metrics"
      : `must be a metric of the run: ${shown}`;
  throw new InvalidInputError("the metrics cannot be shown", [{ path: "--metric", value: name, rule }]);
}

/** Formats a time. A client may log any whole number as a time. */
function timeOrNumber(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString();
}
