import { requireRows } from "./errors";

/** Metrics of predicted classes, with the semantics of scikit-learn (`sklearn.metrics`). Classes are indexes. */

/** The value of x / 0, scikit-learn's `zero_division`: 0, 1, or NaN. NaN excludes the class from the averages. */
export type ZeroDivision = number;

/** `[classes, classes]`, row-major: row = true class, column = predicted class. */
export function confusionMatrix(labels: ArrayLike<number>, predicted: ArrayLike<number>, classes: number): Uint32Array {
  requireRows(labels.length, predicted.length);
  const counts = new Uint32Array(classes * classes);
  for (let row = 0; row < labels.length; row += 1) counts[labels[row]! * classes + predicted[row]!]! += 1;
  return counts;
}

export interface Averages {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

export interface ClassMetrics extends Averages {
  /** Rows of the class that are predicted as the class. */
  readonly hits: number;
  /** Rows of the class. */
  readonly support: number;
  /** Rows that are predicted as the class. */
  readonly predicted: number;
}

/** Computes `accuracy_score`. */
export function accuracy(confusion: Uint32Array, classes: number): number {
  let right = 0;
  let all = 0;
  for (let index = 0; index < confusion.length; index += 1) {
    all += confusion[index]!;
    if (Math.floor(index / classes) === index % classes) right += confusion[index]!;
  }
  return right / all;
}

/** Computes `precision_recall_fscore_support(average=None)`. */
export function classMetrics(
  confusion: Uint32Array,
  classes: number,
  zeroDivision: ZeroDivision = 0,
): readonly ClassMetrics[] {
  return Array.from({ length: classes }, (_, index) => {
    const hits = confusion[index * classes + index]!;
    let support = 0;
    let predicted = 0;
    for (let other = 0; other < classes; other += 1) {
      support += confusion[index * classes + other]!;
      predicted += confusion[other * classes + index]!;
    }
    return classMetricsOf(hits, support, predicted, zeroDivision);
  });
}

/** Computes the metrics of one class from its counts. */
export function classMetricsOf(
  hits: number,
  support: number,
  predicted: number,
  zeroDivision: ZeroDivision = 0,
): ClassMetrics {
  return { ...averagesOf(hits, support, predicted, zeroDivision), hits, support, predicted };
}

function averagesOf(hits: number, support: number, predicted: number, zeroDivision: ZeroDivision): Averages {
  return {
    precision: predicted === 0 ? zeroDivision : hits / predicted,
    recall: support === 0 ? zeroDivision : hits / support,
    // Equals 2·P·R / (P + R) without its rounding.
    f1: support + predicted === 0 ? zeroDivision : (2 * hits) / (support + predicted),
  };
}

/** Computes `average="macro"`: the mean over the classes in the labels or the predictions. */
export function macroAverage(metrics: readonly ClassMetrics[]): Averages {
  const there = metrics.filter(({ support, predicted }) => support + predicted > 0);
  return average(there, () => 1);
}

/** Computes `average="weighted"`: the mean weighted by support. */
export function weightedAverage(metrics: readonly ClassMetrics[]): Averages {
  return average(metrics, ({ support }) => support);
}

/**
 * Averages without NaNs. If the remaining weights are all 0, the rest has equal weights, as in scikit-learn's
 * `_nanaverage`.
 */
function average(metrics: readonly ClassMetrics[], weightOf: (metrics: ClassMetrics) => number): Averages {
  const mean = (key: keyof Averages): number => {
    const terms = metrics.filter((each) => !Number.isNaN(each[key]));
    const total = terms.reduce((sum, each) => sum + weightOf(each), 0);
    const weigh = total === 0 ? () => 1 / terms.length : (each: ClassMetrics) => weightOf(each) / total;
    return terms.length === 0 ? Number.NaN : terms.reduce((sum, each) => sum + each[key] * weigh(each), 0);
  };
  return { precision: mean("precision"), recall: mean("recall"), f1: mean("f1") };
}

/**
 * Computes `log_loss`: the mean negative logarithm of the true class's probability, clipped to [eps, 1 - eps].
 *
 * @param probabilityOf returns the probability of a row's true class
 * @param eps machine epsilon of the probabilities' type: 2^-23 for float32, 2^-52 for float64
 */
export function logLoss(rows: number, probabilityOf: (row: number) => number, eps = 2 ** -23): number {
  requireRows(rows);
  let sum = 0;
  for (let row = 0; row < rows; row += 1) sum -= Math.log(Math.min(Math.max(probabilityOf(row), eps), 1 - eps));
  return sum / rows;
}
