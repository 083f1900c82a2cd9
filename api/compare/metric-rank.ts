import { goalOf, testPrefix } from "../../core/evaluation/metric-goal";
import type { MetricSummary } from "../../core/tracking/metric-store";

/** Metrics of the test split that summarize a model. */
const headline = ["accuracy", "auc", "logLoss", "rmse", "mae", "r2"].map((name) => `${testPrefix}${name}`);
const detail = /^test\/(?:precision|recall|f1|prAuc)/;

/**
 * Ranks a metric by its interest for a reader, smaller first: the model on test data, on validation and other data, on
 * training data, details of the test, metrics without a goal, metrics of machines.
 */
function metricRank(metric: string): number {
  const place = headline.indexOf(metric);
  if (place !== -1) return place / headline.length;
  if (metric.startsWith("system/")) return 5;
  if (detail.test(metric)) return 3;
  if (goalOf(metric) === undefined) return metric.startsWith(testPrefix) ? 1 : 4;
  return /^train/i.test(metric) ? 2 : 1;
}

/**
 * Returns a comparison of metrics by rank, then by name. The primary metrics of the tasks come first.
 *
 * @param runs the runs that are shown
 */
export function byRank(runs: Iterable<{ readonly primaryMetric?: string | undefined }> = []) {
  const primary = new Set([...runs].flatMap(({ primaryMetric }) => primaryMetric ?? []));
  const rank = (metric: string): number => (primary.has(metric) ? -1 : metricRank(metric));
  return (a: string, b: string): number => rank(a) - rank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Returns whether a metric may have a curve. An evaluation leaves one point, at the last step of the training. */
export function mayHaveCurve({ metric, lastStep, min, max }: MetricSummary): boolean {
  return lastStep > 0 && !(metric.startsWith(testPrefix) && min === max);
}
