import type { MetricPoint } from "../../../core/tracking/metric-store";

/**
 * At most `most` points in the order of steps: the first of each of as many equal buckets (SQL's NTILE: the first buckets have one more where it does not go
 * into the count), and the last point in place of the last bucket's first. As MLflow's server samples, so that its pages draw the same curves.
 */
export function sampled(points: readonly MetricPoint[], most: number): readonly MetricPoint[] {
  const sorted = [...points].sort((a, b) => a.step - b.step || a.time - b.time || ordinal(a.value) - ordinal(b.value));
  if (sorted.length <= most) return sorted;
  const small = Math.floor(sorted.length / most);
  const larger = sorted.length % most;
  const starts = Array.from({ length: most }, (_, bucket) => bucket * small + Math.min(bucket, larger));
  starts[most - 1] = sorted.length - 1;
  return starts.map((at) => sorted[at]!);
}

/** NaN lies in MLflow's tables as 0. */
function ordinal(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
