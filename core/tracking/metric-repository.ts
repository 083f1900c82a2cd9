import type { MetricSeries } from "./metric-batch";

/** Of what was stored last by (step, time, value), and of all that was ever stored. */
export interface MetricSummary {
  readonly metric: string;
  readonly last: number;
  readonly lastStep: number;
  /** Milliseconds since the epoch. */
  readonly lastTime: number;
  /** NaN where all values are. */
  readonly min: number;
  readonly max: number;
}

export interface MetricPoint {
  readonly step: number;
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** A place in a metric's points. */
export interface SeriesPosition {
  /** The last point before it; −1 at the beginning. */
  readonly step: number;
  /** Where the store goes on to look: the store's own business, 0 where it is not known. */
  readonly item: number;
}

export interface SeriesPage {
  /** After the position that was asked for, ascending by step. May be empty although there are more. */
  readonly points: readonly MetricPoint[];
  /** After them. */
  readonly position: SeriesPosition;
  readonly more: boolean;
}

/**
 * The port to the points of training runs, for those who make and follow them. A point is known by (run, metric, step): writing it again changes nothing. It
 * lies on the same rows as `MetricStore`.
 */
export interface MetricRepository {
  write(runId: string, series: readonly MetricSeries[]): Promise<void>;
  /** Ascending by step. */
  read(runId: string, metric: string): Promise<readonly MetricPoint[]>;
  /** Some points after a position, strongly consistent: what a summary tells of is there. */
  readAfter(runId: string, metric: string, position: SeriesPosition): Promise<SeriesPage>;
  summaries(runId: string): Promise<readonly MetricSummary[]>;
}
