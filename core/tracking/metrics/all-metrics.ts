import type { MetricSeries } from "../metric-batch";
import type { MetricSummary } from "../metric-repository";
import type { BatchReceipt } from "../metric-store";
import type { StoredSeries } from "./series";

/** Points after a follower's position, as far as they are not told apart yet. */
export interface NewPoints {
  readonly series: StoredSeries;
  /** How far the log went. */
  readonly version: number;
}

/** The port to every team's metrics, which knows nothing of runs but their ids. All reads are strongly consistent. */
export interface AllMetrics {
  append(
    runId: string,
    series: readonly MetricSeries[],
    receipt?: BatchReceipt,
  ): Promise<{ readonly duplicate: boolean }>;
  /** A metric that the run does not have has no points. */
  series(runId: string, metric: string): Promise<StoredSeries>;
  /** Points of a metric that were stored past a version of the log, others perhaps among them. As fresh as the run's last summaries here. */
  seriesAfter(runId: string, metric: string, version: number): Promise<NewPoints>;
  /** By name. */
  summaries(runId: string): Promise<readonly MetricSummary[]>;
  summariesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricSummary[]>>;
}

export const noSeries: StoredSeries = { loose: [], entries: [], openEntries: async () => [] };
