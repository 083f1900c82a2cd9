/** Metrics for which less is better. For all others more is better. */
const lessIsBetterOf = new Set(["logLoss", "rmse", "mae", "mse", "loss"]);

export function lessIsBetter(metric: string): boolean {
  return lessIsBetterOf.has(metric);
}
