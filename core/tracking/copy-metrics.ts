import { metricsBehind, newPoints } from "./follow";
import type { MetricStore } from "./metric-store";
import { testPrefix } from "./test-metrics";

export type CopyPorts = Pick<MetricStore, "summaries" | "readAfter" | "append">;

/** Prefix of the metrics of a run's machines. */
const machinePrefix = "system/";

/**
 * Copies the metrics of a training into a run that reuses it. Skips metrics of machines, which the run did not use, and of the test split, which the run's own
 * evaluation records. Idempotent: a repeated call continues each metric after the last step that was copied. Memory is bounded by one event of a stream.
 */
export async function copyTrainingMetrics(metrics: CopyPorts, fromRunId: string, toRunId: string): Promise<void> {
  const [source, copied] = await Promise.all([metrics.summaries(fromRunId), metrics.summaries(toRunId)]);
  const positions = new Map(copied.map(({ metric, lastStep }) => [metric, { step: lastStep, item: 0 }]));
  const missing = metricsBehind(source, positions).filter(
    (metric) => !metric.startsWith(machinePrefix) && !metric.startsWith(testPrefix),
  );
  for await (const parts of newPoints(metrics, fromRunId, missing, positions)) {
    const series = parts.map(({ metric, points }) => ({
      metric,
      steps: points.map(({ step }) => step),
      values: points.map(({ value }) => value),
      times: points.map(({ time }) => time),
    }));
    await metrics.append(toRunId, series);
  }
}
