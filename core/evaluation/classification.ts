/**
 * Metrics of predicted classes, with the semantics of scikit-learn (`sklearn.metrics`, zero_division=0). Classes are indexes.
 */

/** `[classes, classes]`, row-major: row = true class, column = predicted class. */
export function confusionMatrix(labels: ArrayLike<number>, predicted: ArrayLike<number>, classes: number): Uint32Array {
  const counts = new Uint32Array(classes * classes);
  for (let row = 0; row < labels.length; row += 1) counts[labels[row]! * classes + predicted[row]!]! += 1;
  return counts;
}

export interface ClassMetrics {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  /** Rows of the class. */
  readonly support: number;
  /** Rows that it was predicted for. */
  readonly predicted: number;
}

/** `accuracy_score`; NaN without rows. */
export function accuracy(confusion: Uint32Array, classes: number): number {
  let right = 0;
  let all = 0;
  for (let index = 0; index < confusion.length; index += 1) {
    all += confusion[index]!;
    if (Math.floor(index / classes) === index % classes) right += confusion[index]!;
  }
  return right / all;
}

/** `precision_recall_fscore_support(average=None)`; 0 where nothing is there to divide by. */
export function classMetrics(confusion: Uint32Array, classes: number): readonly ClassMetrics[] {
  return Array.from({ length: classes }, (_, index) => {
    const hits = confusion[index * classes + index]!;
    let support = 0;
    let predicted = 0;
    for (let other = 0; other < classes; other += 1) {
      support += confusion[index * classes + other]!;
      predicted += confusion[other * classes + index]!;
    }
    const precision = predicted === 0 ? 0 : hits / predicted;
    const recall = support === 0 ? 0 : hits / support;
    // 2·TP / (2·TP + FP + FN), which is 2·P·R / (P + R) without its rounding.
    const f1 = support + predicted === 0 ? 0 : (2 * hits) / (support + predicted);
    return { precision, recall, f1, support, predicted };
  });
}

export interface Averages {
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** `average="macro"`: over the classes that are in the labels or the predictions. */
export function macroAverage(metrics: readonly ClassMetrics[]): Averages {
  const there = metrics.filter(({ support, predicted }) => support + predicted > 0);
  return average(there, () => 1);
}

/** `average="weighted"`: by support. */
export function weightedAverage(metrics: readonly ClassMetrics[]): Averages {
  return average(metrics, ({ support }) => support);
}

function average(metrics: readonly ClassMetrics[], weightOf: (metrics: ClassMetrics) => number): Averages {
  const total = metrics.reduce((sum, each) => sum + weightOf(each), 0);
  const mean = (key: keyof Averages): number =>
    metrics.reduce((sum, each) => sum + each[key] * weightOf(each), 0) / total;
  return { precision: mean("precision"), recall: mean("recall"), f1: mean("f1") };
}

/**
 * `log_loss`: mean negative logarithm of the true class's probability, clipped to [eps, 1 - eps] with float32's eps, the probabilities' type.
 *
 * @param probabilityOf of the true class of a row
 */
export function logLoss(rows: number, probabilityOf: (row: number) => number): number {
  const eps = 2 ** -23;
  let sum = 0;
  for (let row = 0; row < rows; row += 1) sum -= Math.log(Math.min(Math.max(probabilityOf(row), eps), 1 - eps));
  return sum / rows;
}
