import { byRank } from "../api/compare/metric-rank";
import { formatMetric } from "../api/compare/metric-text";
import type { MetricSummary } from "../core/tracking/metric-store";
import { formatNumber, printTable } from "./output";

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
