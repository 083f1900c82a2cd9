import type { BatchResult } from "../engine/engine";

/**
 * Sums over rows that follow the gradient in the all-reduce: loss, weight, correct, then the user's metrics by name.
 */
export interface ScoreLayout {
  readonly metrics: readonly string[];
  readonly length: number;
}

export interface Score {
  readonly loss: number;
  readonly weight: number;
  /** Share of correctly predicted rows; undefined for a regression. */
  readonly accuracy?: number;
  readonly metrics: Readonly<Record<string, number>>;
}

export function scoreLayout(metrics: readonly string[]): ScoreLayout {
  return { metrics: [...metrics].sort(), length: 3 + metrics.length };
}

export function addScore(layout: ScoreLayout, result: BatchResult, sums: Float32Array | Float64Array): void {
  sums[0]! += result.loss;
  sums[1]! += result.weight;
  sums[2]! += result.correct ?? Number.NaN;
  layout.metrics.forEach((name, index) => {
    sums[3 + index]! += result.metrics?.[name] ?? Number.NaN;
  });
}

/** Returns the means of summed scores, over the weight of their rows. */
export function scoreOf(layout: ScoreLayout, sums: Float32Array | Float64Array): Score {
  const weight = sums[1]!;
  const accuracy = sums[2]! / weight;
  return {
    loss: sums[0]! / weight,
    weight,
    ...(Number.isNaN(accuracy) ? {} : { accuracy }),
    metrics: Object.fromEntries(layout.metrics.map((name, index) => [name, sums[3 + index]! / weight])),
  };
}

/** Returns the score as `train/loss`, `train/accuracy`, … */
export function namedScore(prefix: "train" | "validation", { loss, accuracy, metrics }: Score): Record<string, number> {
  return {
    [`${prefix}/loss`]: loss,
    ...(accuracy === undefined ? {} : { [`${prefix}/accuracy`]: accuracy }),
    ...named(prefix, metrics),
  };
}

/** Returns metrics by their names in a run: `test/confidence`. */
export function named(
  split: "train" | "validation" | "test",
  metrics: Score["metrics"],
): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${split}/${name}`, value]));
}
