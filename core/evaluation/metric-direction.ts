/** Metrics of which less is better; of all others more is. */
const lessIsBetterOf = new Set(["logLoss", "rmse", "mae", "mse", "loss"]);

export function lessIsBetter(metric: string): boolean {
  return lessIsBetterOf.has(metric);
}
