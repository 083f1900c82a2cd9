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

/** Directions that a job or a policy declares for metrics whose names tell none. */
export type Directions = Readonly<Record<string, "minimize" | "maximize">>;

/** Returns whether less of a metric is better: by its name, else as declared, else not. */
export function lessIsBetter(metric: string, directions: Directions = {}): boolean {
  const declared = Object.hasOwn(directions, metric) ? directions[metric] : undefined;
  return (goalOf(metric) ?? (declared === "minimize" ? "min" : "max")) === "min";
}
