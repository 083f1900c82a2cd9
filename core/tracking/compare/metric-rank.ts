import type { MetricSummary } from "../metric-store";
import { testPrefix } from "../test-metrics";
import { goalOf } from "./goal";

/** Metrics of the test split that summarize a model. */
const headline = ["accuracy", "auc", "logLoss", "rmse", "mae", "r2"].map((name) => `${testPrefix}${name}`);
const detail = /^test\/(?:precision|recall|f1|prAuc)/;

/**
 * Ranks a metric by its interest for a reader, smaller first: the model on test data, on validation and other data, on
 * training data, details of the test, metrics without a goal, metrics of machines.
 */
export function metricRank(metric: string): number {
  const place = headline.indexOf(metric);
  if (place !== -1) return place / headline.length;
  if (metric.startsWith("system/")) return 5;
  if (detail.test(metric)) return 3;
  if (goalOf(metric) === undefined) return 4;
  return /^train/i.test(metric) ? 2 : 1;
}

/** Sorts by rank, then by name. */
export function byRank(a: string, b: string): number {
  return metricRank(a) - metricRank(b) || (a < b ? -1 : a > b ? 1 : 0);
}

/** Returns whether a metric may have a curve. An evaluation leaves one point, at the last step of the training. */
export function mayHaveCurve({ metric, lastStep, min, max }: MetricSummary): boolean {
  return lastStep > 0 && !(metric.startsWith(testPrefix) && min === max);
}
