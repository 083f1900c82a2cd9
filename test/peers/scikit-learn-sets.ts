import type { ZeroDivision } from "../../core/evaluation/classification";
import type { Predictions } from "../../core/evaluation/metrics";
import { integerBelow as below, oneOf, type Random } from "../support/random";

/** Mostly some tens of rows, sometimes very few. */
const size = (random: Random): number => (random() < 0.2 ? 1 + below(random, 4) : 5 + below(random, 120));

export interface ClassSet {
  readonly predictions: Predictions;
  readonly zeroDivision: ZeroDivision;
}

/** Two to twelve classes; balanced, skewed or one class alone; probabilities continuous, in few steps (ties), all equal, or certain. */
export function classSet(random: Random): ClassSet {
  const classes = random() < 0.5 ? 2 : 3 + below(random, 10);
  const rows = size(random);
  const skew = oneOf(random, [1, 1, 4, 30]);
  const only = random() < 0.05 ? below(random, classes) : undefined;
  const labels = Int32Array.from({ length: rows }, () => only ?? Math.floor(random() ** skew * classes));
  const steps = oneOf(random, [0, 1, 3, 8]);
  const signal = oneOf(random, [0, 0.5, 3]);
  const outputs = new Float32Array(rows * (classes === 2 ? 1 : classes));
  for (let row = 0; row < rows; row += 1) {
    const weights = Array.from({ length: classes }, (_, index): number => {
      const weight = random() + (index === labels[row] ? signal * random() : 0);
      return steps === 0 ? weight : steps === 1 ? 1 : Math.round(weight * steps);
    });
    if (!weights.some((weight) => weight > 0)) weights[below(random, classes)] = 1;
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    if (classes === 2) outputs[row] = weights[1]! / total;
    else
      outputs.set(
        weights.map((weight) => weight / total),
        row * classes,
      );
  }
  return { predictions: { classes, labels, outputs }, zeroDivision: oneOf<ZeroDivision>(random, [0, 1, Number.NaN]) };
}

export interface WeightedSet {
  readonly predictions: Predictions;
  readonly weights: Uint32Array;
}

/** Classes or values, each row drawn never, once or a few times; at least two rows are. */
export function weightedSet(random: Random): WeightedSet {
  const values = random() < 0.3;
  const { labels, predicted } = valueSet(random);
  const predictions = values
    ? { classes: 0, labels: Float32Array.from(labels), outputs: Float32Array.from(predicted) }
    : classSet(random).predictions;
  const weights = Uint32Array.from(predictions.labels, () => below(random, 4));
  weights.fill(1, 0, 2);
  return { predictions, weights };
}

export interface GroupedSet {
  readonly predictions: Predictions;
  readonly groups: Int32Array;
}

/** Two to six groups, each of two rows at least. */
export function groupedSet(random: Random): GroupedSet {
  for (;;) {
    const { predictions } = classSet(random);
    const count = 2 + below(random, 5);
    const groups = Int32Array.from(predictions.labels, (_, row) =>
      row < 2 * count ? row % count : below(random, count),
    );
    if (predictions.labels.length >= 2 * count) return { predictions, groups };
  }
}

export interface ValueSet {
  readonly labels: readonly number[];
  readonly predicted: readonly number[];
}

/** Values of many sizes, far from zero or near it; constant labels; predictions that are right, near, or constant. */
export function valueSet(random: Random): ValueSet {
  const rows = size(random);
  const scale = 10 ** (below(random, 9) - 4);
  const offset = oneOf(random, [0, 0, 1, -1000]) * scale;
  const constant = random() < 0.1;
  const noise = oneOf(random, [0, 1e-3, 1, 5]);
  // Constant labels are whole: of others scikit-learn's mean is rounded, and its R² divides by that rounding.
  const labels = Array.from({ length: rows }, () =>
    constant ? Math.round(offset) : offset + (random() - 0.5) * scale,
  );
  const predicted = labels.map((label) =>
    noise === 5 ? offset : noise === 0 ? label : label + (random() - 0.5) * noise * scale,
  );
  return { labels, predicted };
}
