import type { MetricPoint } from "../metric-store";

/**
 * When two points of a metric are one. `step`: of a training run, where a step has one value and the later told one stands. `point`: of a logged run, where a
 * client may tell several of a step, and only the very same point is one.
 */
export type PointIdentity = "step" | "point";

/** MLflow keeps NaN as 0 beside a mark, and orders by that (`SqlMetric.value`, `is_nan`). */
const ordinal = (value: number): number => (Number.isNaN(value) ? 0 : value);

/** By step, then time, then value: what is latest, as MLflow's `_update_latest_metrics_if_necessary` has it. Equal only where the points are one. */
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

/** In order, each once; of those with one step the last where the step is what makes a point. Sorts what it is given. */
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
