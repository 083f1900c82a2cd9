import type { EvaluationOutput } from "../evaluation/shapes";
import type { Clock } from "../ports";
import type { MetricStore } from "./metric-store";
import { RunFieldFixedError } from "./records/errors";
import type { RunIdentity } from "./shapes";

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
