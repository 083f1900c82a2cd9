import type { Command } from "commander";
import { decodeValue, type EncodedValue } from "../../core/tracking/metric-values";
import { contextOf } from "../context";
import { curveLines } from "../curve";
import { formatNumber, printJson, printTable } from "../output";

const curveSize = { columns: 64, rows: 10 };
/** Two of each column of dots. */
const curvePoints = 4 * curveSize.columns;

interface MetricsOptions {
  readonly metric?: string;
  readonly points?: string;
  readonly fromStep?: string;
  readonly toStep?: string;
}

/** `runs metrics`: last, least and greatest of all, or a curve of one. */
export function addMetricsCommand(runs: Command): void {
  runs
    .command("metrics <run>")
    .description("last, least and greatest value of each metric; of one metric its curve")
    .option("--metric <name>", "a curve of this one")
    .option("--points <number>", "with --metric: at most so many points, extremes among them")
    .option("--from-step <step>", "with --metric: from this step on")
    .option("--to-step <step>", "with --metric: up to this step")
    .action(async (runId: string, options: MetricsOptions, command: Command) => {
      const { client, json } = contextOf(command);
      const points = options.points ?? (json || options.metric === undefined ? undefined : String(curvePoints));
      // What the options may be the API says, for programs and people alike.
      const query = Object.fromEntries(
        Object.entries({ ...options, points }).filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
      const answer = await client.call("getRunMetrics", { params: { runId }, query });
      if (json) {
        printJson(answer);
        return;
      }
      if ("metrics" in answer) {
        printTable(
          ["METRIC", "LAST", "MIN", "MAX", "STEP"],
          answer.metrics.map(({ metric, last, min, max, lastStep }) => [
            metric,
            ...[last, min, max].map(formatEncoded),
            lastStep,
          ]),
        );
        return;
      }
      const decoded = answer.points.map((point) => ({ ...point, value: decodeValue(point.value) }));
      const lines = curveLines(decoded, curveSize, formatNumber);
      const what = `${answer.metric}: ${answer.total} ${answer.total === 1 ? "point" : "points"}`;
      process.stdout.write(`${[what, ...(options.points === undefined ? lines : [])].join("\n")}\n`);
      if (options.points === undefined) return;
      printTable(
        ["STEP", "VALUE", "TIME"],
        answer.points.map(({ step, value, time }) => [step, formatEncoded(value), momentText(time)]),
      );
    });
}

/** A client may log any whole number as a time. */
function momentText(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString();
}

function formatEncoded(value: EncodedValue): string {
  return formatNumber(decodeValue(value));
}
