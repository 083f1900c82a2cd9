import { RunNotFoundError } from "../training/errors";
import type { MetricRepository } from "./metric-repository";
import type { MetricStore } from "./metric-store";
import type { AllMetrics } from "./metrics/all-metrics";
import { downsample } from "./metrics/downsample";
import { followPage } from "./metrics/follow-page";
import { historyPage } from "./metrics/history";
import type { PointIdentity } from "./metrics/points";
import { openAll } from "./metrics/series";
import type { RunIdentity } from "./run-record";
import type { RunChanges } from "./run-records";

/** A team's ports to metrics: those of its own runs. @throws RunNotFoundError for any other run. */
export function teamMetrics(
  all: AllMetrics,
  team: string,
  tracking: {
    readonly changes: Pick<RunChanges, "mark">;
    identify(runId: string): Promise<RunIdentity | undefined>;
  },
): MetricRepository & MetricStore {
  const owned = async (runId: string): Promise<RunIdentity> => {
    const identity = await tracking.identify(runId);
    if (identity?.team !== team) throw new RunNotFoundError(runId);
    return identity;
  };
  const append: MetricStore["append"] = async (runId, series, receipt) => {
    const identity = await owned(runId);
    const stored = await all.append(runId, series, receipt);
    await tracking.changes.mark(identity);
    return stored;
  };

  return {
    append,
    async write(runId, series) {
      if (series.some(({ steps }) => steps.length > 0)) await append(runId, series);
      else await owned(runId);
    },
    async read(runId, metric) {
      const identity = identityOf(await owned(runId));
      return openAll(await all.series(runId, metric), identity);
    },
    async readAfter(runId, metric, { step, item }) {
      const identity = identityOf(await owned(runId));
      const { series, version } = await all.seriesAfter(runId, metric, item);
      return followPage(series, identity, step, version);
    },
    async summaries(runId) {
      await owned(runId);
      return all.summaries(runId);
    },
    async summariesOf(runIds) {
      const identities = await Promise.all(runIds.map((runId) => tracking.identify(runId)));
      return all.summariesOf(runIds.filter((_, i) => identities[i]?.team === team));
    },
    async downsample(runId, metric, points, range) {
      const identity = identityOf(await owned(runId));
      return downsample(await all.series(runId, metric), identity, points, range);
    },
    async history(runId, metric, page) {
      const identity = identityOf(await owned(runId));
      return historyPage(await all.series(runId, metric), identity, page);
    },
  };
}

/** A deterministic run gives a step one value; what a client logs is kept as it says. */
function identityOf({ source }: RunIdentity): PointIdentity {
  return source === "training" ? "step" : "point";
}
