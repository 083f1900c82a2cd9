import type { SumMethod } from "./sums";

/** Distance of a sum from the leaves' sum in float64. */
export interface ErrorLine {
  readonly vector: string;
  readonly method: string;
  /** ‖error‖ / ‖sum‖. */
  readonly relativeNorm: number;
  /** Median of each element's |error| / |sum|: Adam divides an element's gradient by its own size. */
  readonly median: number;
  readonly percentile99: number;
  /** Share of elements whose sum is not zero, but was computed as zero. */
  readonly lost: number;
}

export function float64Sum(leaves: readonly Float32Array[]): Float64Array {
  const sum = new Float64Array(leaves[0]?.length ?? 0);
  for (const leaf of leaves) for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (leaf[i] as number);
  return sum;
}

export function measureError(
  vector: string,
  method: SumMethod,
  leaves: readonly Float32Array[],
  out: Float32Array,
): ErrorLine {
  const exact = float64Sum(leaves);
  method.sum(leaves, out, 1);
  const relative: number[] = [];
  let [errors, squares, lost] = [0, 0, 0];
  for (let i = 0; i < exact.length; i++) {
    const value = exact[i] as number;
    const error = Math.abs((out[i] as number) - value);
    errors += error * error;
    squares += value * value;
    if (value === 0) continue;
    relative.push(error / Math.abs(value));
    if (out[i] === 0) lost++;
  }
  const sorted = Float64Array.from(relative).sort();
  const quantile = (q: number) => sorted[Math.floor(q * (sorted.length - 1))] ?? 0;
  return {
    vector,
    method: method.name,
    relativeNorm: Math.sqrt(errors / squares),
    median: quantile(0.5),
    percentile99: quantile(0.99),
    lost: lost / Math.max(1, relative.length),
  };
}
