import type { MetricPoint } from "../metric-store";

/**
 * The identity of a point. `step`: for a training run, where a step has one value and the later one counts. `point`:
 * for a logged run, where a client may send several points for a step, and only exact repetitions are the same point.
 */
export type PointIdentity = "step" | "point";

/** MLflow stores NaN as 0 with a flag, and orders by it (`SqlMetric.value`, `is_nan`). */
const ordinal = (value: number): number => (Number.isNaN(value) ? 0 : value);

/**
 * Compares by step, then time, then value; the greatest is the latest, as in MLflow's
 * `_update_latest_metrics_if_necessary`. Equal only for identical points.
 */
export function comparePoints(a: MetricPoint, b: MetricPoint): number {
  if (a.step !== b.step) return a.step - b.step;
  if (a.time !== b.time) return a.time - b.time;
  return compareValues(a.value, b.value);
}

function compareValues(a: number, b: number): number {
  if (a === b) return 0;
  const [x, y] = [ordinal(a), ordinal(b)];
  if (x !== y) return x < y ? -1 : 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/**
 * Orders points and removes duplicates. If the identity is `step`, the last point of each step is kept. Sorts its
 * argument in place.
 */
export function mergePoints(points: MetricPoint[], identity: PointIdentity): MetricPoint[] {
  if (!isAscending(points)) points.sort(comparePoints);
  return points.filter((point, i) => {
    const next = points[i + 1];
    if (next === undefined) return true;
    return identity === "step" ? next.step !== point.step : comparePoints(point, next) !== 0;
  });
}

function isAscending(points: readonly MetricPoint[]): boolean {
  for (let i = 1; i < points.length; i += 1) if (comparePoints(points[i - 1]!, points[i]!) > 0) return false;
  return true;
}
