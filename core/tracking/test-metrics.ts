import { testPrefix } from "../evaluation/metric-goal";
import type { EvaluationOutput } from "../evaluation/shapes";
import type { Clock } from "../ports";
import type { TrainingOutput } from "../runs/training-task";
import type { MetricStore } from "./metric-store";
import { runFieldFixed } from "./records/errors";
import type { RunIdentity } from "./shapes";

/**
 * Refuses the points of a client or of a trainer for metrics that the platform measures: those of a training run under `test/`.
 *
 * @throws RUN_FIELD_FIXED
 */
export function checkNotMeasured(run: Pick<RunIdentity, "runId" | "source">, metrics: Iterable<string>): void {
  if (run.source !== "training") return;
  for (const metric of metrics) {
    if (metric.startsWith(testPrefix)) throw runFieldFixed(run.runId, `metric ${JSON.stringify(metric)}`);
  }
}

/** Identifies the one batch that an evaluation writes, so that a repeated invocation writes nothing. */
const receipt = { writer: "ringmaster/evaluate", sequence: 1 } as const;

/**
 * Records an evaluation's metrics as metrics of the run, at the last step of its training. Idempotent. Metrics that are
 * undefined for the rows are not in the evaluation, and have no point. Those of validation that the training has logged
 * after each epoch stay.
 */
export async function recordTestMetrics(
  { metrics, clock }: { readonly metrics: Pick<MetricStore, "append">; readonly clock: Clock },
  runId: string,
  training: Pick<TrainingOutput, "steps" | "metrics">,
  { metrics: test, validation = {} }: Pick<EvaluationOutput, "metrics" | "validation">,
): Promise<void> {
  const time = clock.now();
  const named = [
    ...Object.entries(test).map(([name, value]) => [`${testPrefix}${name}`, value] as const),
    ...Object.entries(validation)
      .map(([name, value]) => [`validation/${name}`, value] as const)
      .filter(([name]) => !Object.hasOwn(training.metrics, name)),
  ];
  const series = named
    .filter(([, value]) => Number.isFinite(value))
    .map(([metric, value]) => ({ metric, steps: [training.steps], values: [value], times: [time] }));
  if (series.length > 0) await metrics.append(runId, series, receipt);
}
