import type { LoggedModel, LoggedModels } from "../tracking/logged-model";
import type { MetricStore } from "../tracking/metric-store";
import type { ModelVersion } from "./model";

export interface LoggedMetricsPorts {
  readonly metrics: Pick<MetricStore, "summariesOf">;
  readonly loggedModels: Pick<LoggedModels, "find">;
}

type Metrics = Readonly<Record<string, number>>;

/**
 * Returns the logged metrics of versions that were made elsewhere, by version number: the logged model's own metrics
 * first, because a run may have logged several models, then the last values of their runs. Versions that were trained
 * here have their evaluation, and are omitted like those without metrics.
 */
export async function loggedMetricsOf(
  { metrics, loggedModels }: LoggedMetricsPorts,
  versions: readonly Pick<ModelVersion, "version" | "runId" | "loggedModelId" | "artifactKey">[],
): Promise<ReadonlyMap<number, Metrics>> {
  const logged = versions.filter(({ artifactKey }) => artifactKey === undefined);
  const runIds = [...new Set(logged.flatMap(({ runId }) => runId ?? []))];
  const modelIds = [...new Set(logged.flatMap(({ loggedModelId }) => loggedModelId ?? []))];
  const [summaries, models] = await Promise.all([
    runIds.length === 0 ? new Map<string, never>() : metrics.summariesOf(runIds),
    Promise.all(modelIds.map((id) => loggedModels.find(id))),
  ]);
  const ofModel = new Map(models.map((model) => [model?.modelId, lastOf(model?.metrics ?? [])]));
  return new Map(
    logged.flatMap(({ version, runId, loggedModelId }) => {
      const ofRun = runId === undefined ? [] : (summaries.get(runId) ?? []);
      const all = {
        ...Object.fromEntries(ofRun.map(({ metric, last }) => [metric, last])),
        ...(loggedModelId === undefined ? {} : ofModel.get(loggedModelId)),
      };
      return Object.keys(all).length === 0 ? [] : [[version, all]];
    }),
  );
}

/** Takes the point with the highest step for each metric; for equal steps the latest. */
function lastOf(points: LoggedModel["metrics"]): Metrics {
  const last = new Map<string, LoggedModel["metrics"][number]>();
  for (const point of points) {
    const before = last.get(point.key);
    const later =
      before === undefined ||
      point.step > before.step ||
      (point.step === before.step && point.timestamp >= before.timestamp);
    if (later) last.set(point.key, point);
  }
  return Object.fromEntries([...last].map(([key, { value }]) => [key, value]));
}
