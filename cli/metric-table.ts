import pc from "picocolors";
import type { EvaluationTable } from "../core/evaluation/evaluation-tables";
import { byRank } from "../core/evaluation/metric-goal";
import { formatMetric } from "../core/quantities";
import type { MetricSummary } from "../core/tracking/metric-store";
import { formatNumber, printTable } from "./output";

/** Prints a table of an evaluation after an empty line. */
export function printEvaluationTable({ title, note, head, rows, warning }: EvaluationTable): void {
  process.stdout.write(`\n${title.charAt(0).toLowerCase()}${title.slice(1)}${note === undefined ? "" : `: ${note}`}\n`);
  printTable(head, rows);
  if (warning !== undefined) process.stdout.write(`${pc.yellow("warning")}: ${warning}\n`);
}

/** Prints the last value, minimum and maximum of each metric, the most important ones first. */
export function printMetrics(
  metrics: readonly Omit<MetricSummary, "lastTime">[],
  run: { readonly primaryMetric?: string | undefined } = {},
): void {
  const rank = byRank([run]);
  printTable(
    ["METRIC", "LAST", "MIN", "MAX", "STEP"],
    [...metrics]
      .sort((a, b) => rank(a.metric, b.metric))
      .map(({ metric, last, min, max, lastStep }) => [
        metric,
        ...[last, min, max].map((value) => formatMetric(metric, value, formatNumber)),
        lastStep,
      ]),
  );
}
