import type { MetricSeries } from "./metric-batch";
import type { MetricPoint, MetricSummary } from "./metric-repository";

/** Of whom a batch is, and its number among his: the same number again is the same batch. */
export interface BatchReceipt {
  readonly writer: string;
  readonly sequence: number;
}

/** A stretch of a metric's points; both ends belong to it. */
export interface PointRange {
  readonly fromStep?: number;
  readonly toStep?: number;
  /** Milliseconds since the epoch. */
  readonly fromTime?: number;
  readonly toTime?: number;
}

export interface Downsampled {
  /** At most as many as asked for, ascending by step: first and last, and the least and greatest of each stretch, at their own steps. */
  readonly points: readonly MetricPoint[];
  /** How many there are in the range. */
  readonly total: number;
}

export interface HistoryPage {
  /** By time, then step, then value. */
  readonly points: readonly MetricPoint[];
  readonly nextToken?: string;
}

/** What the metric repository is to become: how runs with a million points are written and looked at. */
export interface MetricStore {
  /** `duplicate`: a batch of that receipt was stored before, and nothing was written. Marks the run in `RunChanges` before it resolves. */
  append(
    runId: string,
    series: readonly MetricSeries[],
    receipt?: BatchReceipt,
  ): Promise<{ readonly duplicate: boolean }>;
  downsample(runId: string, metric: string, points: number, range?: PointRange): Promise<Downsampled>;
  history(
    runId: string,
    metric: string,
    page: { readonly limit: number; readonly token?: string },
  ): Promise<HistoryPage>;
  /** Of many runs at once, for search and compare; runs without metrics are left out. Strongly consistent. */
  summariesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricSummary[]>>;
}
