import type { MetricSeries } from "./metric-batch";

export interface MetricSummary {
  readonly metric: string;
  readonly last: number;
  readonly lastStep: number;
  readonly min: number;
  readonly max: number;
}

export interface MetricPoint {
  readonly step: number;
  readonly value: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** The port to metric points. A point is known by (run, metric, step): writing it again changes nothing. */
export interface MetricRepository {
  write(runId: string, series: readonly MetricSeries[]): Promise<void>;
  /** Ascending by step. */
  read(runId: string, metric: string): Promise<readonly MetricPoint[]>;
  summaries(runId: string): Promise<readonly MetricSummary[]>;
}
