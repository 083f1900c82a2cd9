import { requireRows } from "./errors";

/** Metrics of predicted values, with the semantics of scikit-learn. */
export interface RegressionMetrics {
  /** `root_mean_squared_error` */
  readonly rmse: number;
  /** `mean_absolute_error` */
  readonly mae: number;
  /**
   * `r2_score`: 1 - SSₑ / SSₜ. For constant labels, 1 if every prediction is exact, else 0. Absent for fewer than two
   * rows.
   */
  readonly r2?: number;
}

export function regressionMetrics(labels: ArrayLike<number>, predicted: ArrayLike<number>): RegressionMetrics {
  const rows = labels.length;
  requireRows(rows, predicted.length);
  // Sums are relative to the first label, so that the mean of constant labels is exact.
  const first = labels[0]!;
  let sum = 0;
  for (let row = 0; row < rows; row += 1) sum += labels[row]! - first;
  const mean = first + sum / rows;
  let squares = 0;
  let absolutes = 0;
  let spread = 0;
  for (let row = 0; row < rows; row += 1) {
    const error = labels[row]! - predicted[row]!;
    squares += error * error;
    absolutes += Math.abs(error);
    spread += (labels[row]! - mean) ** 2;
  }
  const metrics = { rmse: Math.sqrt(squares / rows), mae: absolutes / rows };
  if (rows < 2) return metrics;
  return { ...metrics, r2: spread === 0 ? (squares === 0 ? 1 : 0) : 1 - squares / spread };
}
