import type { MetricSeries } from "./metric-batch";

export interface MetricPoint {
  readonly step: number;
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** Summarizes a metric: its last point by (step, time, value), and the extremes of all points that were ever stored. */
export interface MetricSummary {
  readonly metric: string;
  readonly last: number;
  readonly lastStep: number;
  /** Milliseconds since the epoch. */
  readonly lastTime: number;
  /** NaN if all values are NaN. */
  readonly min: number;
  readonly max: number;
}

/** All points of one metric, ascending by step. */
export interface MetricHistory {
  readonly metric: string;
  readonly points: readonly MetricPoint[];
}

/** Identifies a batch by its writer and its sequence number. */
export interface BatchReceipt {
  readonly writer: string;
  readonly sequence: number;
}

/** A range of a metric's points; both ends are included. */
export interface PointRange {
  readonly fromStep?: number;
  readonly toStep?: number;
}

export interface Downsampled {
  /**
   * The first and the last point, and the minimum and maximum of each stretch, at their own steps. Ascending by step.
   */
  readonly points: readonly MetricPoint[];
  /** Number of points in the range. */
  readonly total: number;
}

export interface HistoryPage {
  /** By time, then step, then value. */
  readonly points: readonly MetricPoint[];
  readonly nextToken?: string;
}

/** A place in a metric's points. */
export interface SeriesPosition {
  /** The last step before the position; −1 at the start. */
  readonly step: number;
  /** Hint where the store continues to search. Opaque to callers; 0 if unknown. */
  readonly item: number;
}

export interface SeriesPage {
  /** Points after the requested position, ascending by step. May be empty although more points follow. */
  readonly points: readonly MetricPoint[];
  /** The position after them. */
  readonly position: SeriesPosition;
  readonly more: boolean;
}

/**
 * The port to the metrics of a team's runs. All reads are strongly consistent. A point of a training run is identified
 * by (run, metric, step), a point of a logged run by all its values. Storing a point again changes nothing.
 *
 * @throws RUN_NOT_FOUND in every method but `readMany` and `summariesOf`, for a run that the team does not have
 */
export interface MetricStore {
  /**
   * Stores points, and marks the run in `RunChanges` before it resolves. Without points and receipt it only checks that
   * the run exists.
   *
   * @returns `duplicate` if a batch with that receipt was stored before; nothing was written
   */
  append(
    runId: string,
    series: readonly MetricSeries[],
    receipt?: BatchReceipt,
  ): Promise<{ readonly duplicate: boolean }>;
  /** Reads all points of a metric, ascending by step. */
  read(runId: string, metric: string): Promise<readonly MetricPoint[]>;
  /** Reads some points after a position. Includes every point that an earlier summary counts. */
  readAfter(runId: string, metric: string, position: SeriesPosition): Promise<SeriesPage>;
  /** @param points the maximum number of points to return */
  downsample(runId: string, metric: string, points: number, range?: PointRange): Promise<Downsampled>;
  /** @throws InvalidInputError for a token that no page returned */
  history(
    runId: string,
    metric: string,
    page: { readonly limit: number; readonly token?: string },
  ): Promise<HistoryPage>;
  /** Lists summaries by the metric's name. */
  summaries(runId: string): Promise<readonly MetricSummary[]>;
  /** Reads all points of many runs. Runs of other teams and runs without metrics are omitted. */
  readMany(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricHistory[]>>;
  /** Returns summaries of many runs. Runs of other teams and runs without metrics are omitted. */
  summariesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricSummary[]>>;
}
