/** Metrics of the whole test split and of slices, for labels with classes; see `metricsOf`. */
export const classificationMetricNames = [
  "accuracy",
  "precision",
  "recall",
  "f1",
  "precisionMacro",
  "recallMacro",
  "f1Macro",
  "precisionWeighted",
  "recallWeighted",
  "f1Weighted",
  "auc",
  "prAuc",
  "logLoss",
] as const;

/** Metrics of the whole test split and of slices, for labels of type float. */
export const regressionMetricNames = ["rmse", "mae", "r2"] as const;

/** Metrics for which less is better. For all others more is better. */
const lessIsBetterOf = new Set(["logLoss", "rmse", "mae", "mse", "loss"]);

export function lessIsBetter(metric: string): boolean {
  return lessIsBetterOf.has(metric);
}
