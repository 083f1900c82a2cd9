import type { Platform } from "../../../adapters/platform";
import { type LoggedModelMetric, withModelMetrics } from "../../../core/tracking/logged-model";
import type { RunIdentity } from "../../../core/tracking/shapes";

/** A metric as a client logs it. With `model_id`, it also belongs to a logged model. */
export interface LoggedMetric {
  readonly key: string;
  readonly value: number;
  readonly timestamp: number;
  readonly step: number;
  readonly model_id?: string;
  readonly dataset_name?: string;
  readonly dataset_digest?: string;
}

/** Adds metrics to their logged models. Idempotent. */
export async function logModelMetrics(
  { loggedModels }: Platform,
  { runId }: RunIdentity,
  metrics: readonly LoggedMetric[],
): Promise<void> {
  for (const modelId of new Set(metrics.map(({ model_id }) => model_id!))) {
    const points = metrics.filter(({ model_id }) => model_id === modelId).map((metric) => modelMetric(metric, runId));
    await loggedModels.change(modelId, (model) => withModelMetrics(model, points));
  }
}

function modelMetric(metric: LoggedMetric, runId: string): LoggedModelMetric {
  const { key, value, timestamp, step, dataset_name, dataset_digest } = metric;
  return {
    key,
    value,
    timestamp,
    step,
    runId,
    ...(dataset_name ? { datasetName: dataset_name } : {}),
    ...(dataset_digest ? { datasetDigest: dataset_digest } : {}),
  };
}
