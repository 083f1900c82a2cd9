import type { EvaluationOutput } from "../pipelines/outputs";
import type { Clock } from "../ports";
import type { MetricStore } from "../tracking/metric-store";
import { RunFieldFixedError } from "../tracking/records/errors";
import type { RunIdentity } from "../tracking/run-record";
import type { Metrics } from "./report";

/** Prefix of the test split's metrics in a run: `test/accuracy`. */
export const testPrefix = "test/";

/**
 * Refuses the points of a client or of a trainer for metrics that the platform measures: those of a training run under `test/`.
 *
 * @throws RunFieldFixedError
 */
export function checkNotMeasured(run: Pick<RunIdentity, "runId" | "source">, metrics: Iterable<string>): void {
  if (run.source !== "training") return;
  for (const metric of metrics) {
    if (metric.startsWith(testPrefix)) throw new RunFieldFixedError(run.runId, `metric ${JSON.stringify(metric)}`);
  }
}

/** Identifies the one batch that an evaluation writes, so that a repeated invocation writes nothing. */
const receipt = { writer: "ringmaster/evaluate", sequence: 1 } as const;

/**
 * Records an evaluation's metrics as metrics of the run, at the last step of its training. Idempotent. Metrics that are undefined for the test rows are
 * not in the evaluation, and have no point.
 */
export async function recordTestMetrics(
  { metrics, clock }: { readonly metrics: Pick<MetricStore, "append">; readonly clock: Clock },
  runId: string,
  step: number,
  evaluation: Pick<EvaluationOutput, "metrics">,
): Promise<void> {
  const time = clock.now();
  const series = Object.entries(evaluation.metrics)
    .filter(([, value]) => Number.isFinite(value))
    .map(([name, value]) => ({ metric: `${testPrefix}${name}`, steps: [step], values: [value], times: [time] }));
  if (series.length > 0) await metrics.append(runId, series, receipt);
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
