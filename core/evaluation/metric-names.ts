import type { Metrics } from "./report";

/** Metrics of the whole test split and of slices, for labels with classes; see `metricsOf`. */
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

/** Metrics of the whole test split and of slices, for labels of type float. */
export const regressionMetricNames = ["rmse", "mae", "r2"] as const;

/** Metrics for which less is better. For all others more is better. */
const lessIsBetterOf = new Set(["logLoss", "rmse", "mae", "mse", "loss"]);

export function lessIsBetter(metric: string): boolean {
  return lessIsBetterOf.has(metric);
}

/** Binary tasks are imbalanced if one class has less than a third of the rows. */
export type TaskKind = "regression" | "multiclass" | "balanced" | "imbalanced";

/** The most useful metrics of a task; the first is the primary metric. */
const leading: Readonly<Record<TaskKind, readonly string[]>> = {
  regression: ["rmse", "mae", "r2"],
  multiclass: ["accuracy", "f1Macro", "logLoss", "auc"],
  balanced: ["accuracy", "auc", "f1", "logLoss"],
  imbalanced: ["auc", "prAuc", "logLoss", "recall", "precision", "f1"],
};

const imbalancedBelow = 1 / 3;

/**
 * Returns the kind of a task.
 *
 * @param supports rows of each class in the test split; empty for regression
 */
export function taskKindOf(supports: readonly number[]): TaskKind {
  if (supports.length === 0) return "regression";
  if (supports.length > 2) return "multiclass";
  const rows = supports.reduce((sum, one) => sum + one, 0);
  return Math.min(...supports) < imbalancedBelow * rows ? "imbalanced" : "balanced";
}

/** Returns the names of the metrics that suit the task, the primary one first, without undefined ones. */
export function leadingMetrics(kind: TaskKind, metrics: Metrics): readonly string[] {
  return leading[kind].filter((name) => Object.hasOwn(metrics, name));
}

/**
 * Metrics of a short summary, which come after those of the job's thresholds. They do not depend on the rows of each
 * class.
 */
const summary = ["accuracy", "auc", "prAuc", "f1", "logLoss", "rmse", "mae", "r2"];

/** Names of a few metrics that summarize an evaluation: those that the job sets thresholds for first. */
export function summaryMetrics(metrics: Metrics, thresholds: Readonly<Record<string, number>>): readonly string[] {
  return [...new Set([...Object.keys(thresholds), ...summary])].filter((name) => Object.hasOwn(metrics, name));
}
