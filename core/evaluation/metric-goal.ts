/** Prefix of the test split's metrics in a run: `test/accuracy`. */
export const testPrefix = "test/";

const less =
  /(?:^|[/._\s-])(?:loss|logloss|error|err|rmse|mse|mae|mape|perplexity|ppl|latency|regret|wer|cer|fid)(?:$|[/._\s-])/;
const more =
  /(?:^|[/._\s-])(?:accuracy|acc|auc|f1|precision|recall|ndcg|mrr|map|r2|score|bleu|rouge|iou|dice|reward|throughput)(?:$|[/._\s@-])/;

/** Derives a metric's goal from its name if possible: `validation/loss` is minimized, `top-5-accuracy` maximized. */
export function goalOf(metric: string): "min" | "max" | undefined {
  // The last part of the name decides: `accuracy-loss` is a loss.
  const name = metric.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  const lastOf = (pattern: RegExp): number => {
    let at = -1;
    for (let from = 0; ; ) {
      const offset = name.slice(from).search(pattern);
      if (offset === -1) return at;
      at = from + offset;
      from = at + 1;
    }
  };
  const [toLess, toMore] = [lastOf(less), lastOf(more)];
  if (toLess === toMore) return undefined;
  return toLess > toMore ? "min" : "max";
}

/** Directions that a job or a policy declares for metrics whose names tell none. */
export type Directions = Readonly<Record<string, "minimize" | "maximize">>;

/** Returns whether less of a metric is better: by its name, else as declared, else not. */
export function lessIsBetter(metric: string, directions: Directions = {}): boolean {
  const declared = Object.hasOwn(directions, metric) ? directions[metric] : undefined;
  return (goalOf(metric) ?? (declared === "minimize" ? "min" : "max")) === "min";
}

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

type Summary = Readonly<Record<"lastStep" | "min" | "max", number> & { metric: string }>;

/** Returns whether a metric may have a curve. An evaluation leaves one point, at the last step of the training. */
export function mayHaveCurve({ metric, lastStep, min, max }: Summary): boolean {
  return lastStep > 0 && !(metric.startsWith(testPrefix) && min === max);
}
