import type { MetricSummary } from "../../core/tracking/metric-store";
import { testPrefix } from "../../core/tracking/test-metrics";
import type { Goal } from "./comparison";

const less =
  /(?:^|[/._\s-])(?:loss|logloss|error|err|rmse|mse|mae|mape|perplexity|ppl|latency|regret|wer|cer|fid)(?:$|[/._\s-])/;
const more =
  /(?:^|[/._\s-])(?:accuracy|acc|auc|f1|precision|recall|ndcg|mrr|map|r2|score|bleu|rouge|iou|dice|reward|throughput)(?:$|[/._\s@-])/;

/** Derives a metric's goal from its name if possible: `validation/loss` is minimized, `top-5-accuracy` maximized. */
export function goalOf(metric: string): Goal | undefined {
  // The last part of the name decides: `accuracy-loss` is a loss.
  const name = metric.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  const lastOf = (pattern: RegExp): number => {
    let at = -1;
    for (let from = 0; ; ) {
      const found = name.slice(from).search(pattern);
      if (found === -1) return at;
      at = from + found;
      from = at + 1;
    }
  };
  const [toLess, toMore] = [lastOf(less), lastOf(more)];
  if (toLess === toMore) return undefined;
  return toLess > toMore ? "min" : "max";
}

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
