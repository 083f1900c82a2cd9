import type { TaskKind } from "../datasets/shapes";
import { nearestStorable } from "../shapes";
import { accuracy, classMetrics, confusionMatrix, logLoss, macroAverage, weightedAverage } from "./classification";
import { requireRows } from "./errors";
import { type Ranking, rank } from "./ranking";
import type { Metrics } from "./report";

export interface Predictions {
  /** Number of classes; 0 for regression. */
  readonly classes: number;
  /** `[rows]`: class indexes, or values. */
  readonly labels: Int32Array | Float32Array;
  /** `[rows, classes]`. With two classes `[rows]`: the probability of the second. Regression: `[rows]`. */
  readonly outputs: Float32Array;
  /** Index of the class of interest, of two. Default 1. */
  readonly positive?: 0 | 1;
  /** With two classes: the probability of the second above which a row is predicted as the second. Default 0.5. */
  readonly cut?: number;
}

/**
 * Returns the class with the highest probability, the first of equals; with two classes, the second if its probability
 * is above the cut.
 */
export function predictedClasses({ classes, labels, outputs, cut = 0.5 }: Predictions): Int32Array {
  const predicted = new Int32Array(labels.length);
  for (let row = 0; row < predicted.length; row += 1) {
    if (classes === 2) predicted[row] = outputs[row]! > cut ? 1 : 0;
    else {
      let best = 0;
      for (let index = 1; index < classes; index += 1) {
        if (outputs[row * classes + index]! > outputs[row * classes + best]!) best = index;
      }
      predicted[row] = best;
    }
  }
  return predicted;
}

/** Returns the predictions of some rows. */
export function selectRows({ labels, outputs, ...of }: Predictions, rows: Uint32Array): Predictions {
  const { classes } = of;
  const width = classes > 2 ? classes : 1;
  const some = new Float32Array(rows.length * width);
  for (const [at, row] of rows.entries()) some.set(outputs.subarray(row * width, (row + 1) * width), at * width);
  const someLabels = labels instanceof Int32Array ? new Int32Array(rows.length) : new Float32Array(rows.length);
  for (const [at, row] of rows.entries()) someLabels[at] = labels[row]!;
  return { ...of, labels: someLabels, outputs: some };
}

/** Computes all metrics that are defined for these rows; see `Metrics` for their names. */
export function metricsOf(predictions: Predictions): Metrics {
  const { classes, labels, outputs, positive = 1 } = predictions;
  if (classes === 0) return definedOnly({ ...regressionMetrics(labels, outputs) });
  const confusion = confusionMatrix(labels, predictedClasses(predictions), classes);
  const each = classMetrics(confusion, classes);
  const macro = macroAverage(each);
  const weighted = weightedAverage(each);
  const { precision, recall, f1 } = classes === 2 ? each[positive]! : macro;
  const rankings = rankingsOf(predictions);
  return definedOnly({
    accuracy: accuracy(confusion, classes),
    precision,
    recall,
    f1,
    precisionMacro: macro.precision,
    recallMacro: macro.recall,
    f1Macro: macro.f1,
    precisionWeighted: weighted.precision,
    recallWeighted: weighted.recall,
    f1Weighted: weighted.f1,
    auc: meanOf(rankings, ({ rocAuc }) => rocAuc),
    prAuc: meanOf(rankings, ({ averagePrecision }) => averagePrecision),
    logLoss: logLoss(labels.length, (row) => probabilityOf(predictions, row, labels[row]!)),
  });
}

/** Ranks each class against the rest. With two classes, only the positive one is ranked. */
export function rankingsOf(predictions: Predictions): readonly (Ranking | undefined)[] {
  const { classes, labels, positive = 1 } = predictions;
  const ranked = classes === 2 ? [positive] : Array.from({ length: classes }, (_, index) => index);
  return ranked.map((index) =>
    rank(
      labels.length,
      (row) => probabilityOf(predictions, row, index),
      (row) => labels[row] === index,
    ),
  );
}

export function probabilityOf({ classes, outputs }: Predictions, row: number, index: number): number {
  if (classes !== 2) return outputs[row * classes + index]!;
  return index === 1 ? outputs[row]! : 1 - outputs[row]!;
}

/** Returns the macro average; undefined if one of its classes has no rows, as in scikit-learn. */
function meanOf(rankings: readonly (Ranking | undefined)[], read: (ranking: Ranking) => number): number {
  return (
    rankings.reduce((sum, ranking) => sum + (ranking === undefined ? Number.NaN : read(ranking)), 0) / rankings.length
  );
}

function definedOnly(metrics: Readonly<Record<string, number | undefined>>): Metrics {
  const defined = Object.entries(metrics).filter((entry): entry is [string, number] => Number.isFinite(entry[1]));
  return Object.fromEntries(defined.map(([name, value]) => [name, nearestStorable(value)]));
}

interface RegressionMetrics {
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

/** Computes the metrics of a regression, one label and one prediction for each row. @throws NO_ROWS_TO_MEASURE */
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

export const classificationMetricNames = [
  "accuracy",
  "precision",
  "recall",
  "f1",
  "precisionMacro",
  "recallMacro",
  "f1Macro",
  "precisionWeighted",
  "recallWeighted",
  "f1Weighted",
  "auc",
  "prAuc",
  "logLoss",
] as const;

export const regressionMetricNames = ["rmse", "mae", "r2"] as const;

/** The most useful metrics of a task; the first is the primary metric. */
const ofInterest = ["auc", "prAuc", "logLoss", "recall", "precision", "f1"];
const leading: Readonly<Record<TaskKind, readonly string[]>> = {
  regression: ["rmse", "mae", "r2"],
  multiclass: ["accuracy", "f1Macro", "logLoss", "auc"],
  "rare-classes": ["auc", "f1Macro", "logLoss", "accuracy"],
  "long-tail": ["f1Macro", "logLoss", "accuracy"],
  balanced: ["accuracy", "auc", "f1", "logLoss"],
  imbalanced: ofInterest,
  positive: ofInterest,
};

/** Shares of the rows, relative to those of equal classes, below which a class is rare: of two classes, and of more. */
const rareBelow = { two: 2 / 3, more: 1 / 2 } as const;
/** Ranking more classes against the rest would take too long. */
const maxRanked = 20;

/**
 * Returns the kind of a task.
 *
 * @param supports rows of each class in the test split; empty for regression
 * @param hasPositive whether the job names the class of interest
 */
export function taskKindOf(supports: readonly number[], hasPositive = false): TaskKind {
  if (supports.length === 0) return "regression";
  const equal = supports.reduce((sum, one) => sum + one, 0) / supports.length;
  const least = Math.min(...supports);
  if (supports.length > 2) {
    if (least >= rareBelow.more * equal) return "multiclass";
    return supports.length > maxRanked || least === 0 ? "long-tail" : "rare-classes";
  }
  if (least < rareBelow.two * equal) return "imbalanced";
  return hasPositive ? "positive" : "balanced";
}

/** Returns the metrics that suit the task, the primary one first. */
export function metricsOfTask(kind: TaskKind): readonly [string, ...string[]] {
  return leading[kind] as [string, ...string[]];
}

/** Returns the names of the metrics that suit the task, the primary one first, without undefined ones. */
export function leadingMetrics(kind: TaskKind, metrics: Metrics): readonly string[] {
  return leading[kind].filter((name) => Object.hasOwn(metrics, name));
}

/** Metrics of a short summary, which come after those of the job's thresholds and the primary one. */
const summary = ["accuracy", "auc", "prAuc", "f1", "logLoss", "rmse", "mae", "r2"];

export function summaryMetrics(
  kind: TaskKind,
  metrics: Metrics,
  thresholds: Readonly<Record<string, number>>,
): readonly string[] {
  const moduleNames = Object.keys(metrics).filter((name) => !isBuiltIn(name));
  const names = [...Object.keys(thresholds), metricsOfTask(kind)[0], ...moduleNames, ...summary];
  return [...new Set(names)].filter((name) => Object.hasOwn(metrics, name));
}

const builtIn: ReadonlySet<string> = new Set([...classificationMetricNames, ...regressionMetricNames]);

/** Returns whether the evaluation defines the metric. Others are a module's own. */
export function isBuiltIn(metric: string): boolean {
  return builtIn.has(metric);
}
