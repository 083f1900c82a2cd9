import { RingmasterError } from "../errors";
import type { TrainingProgress } from "../runs/progress";
import type { MachineRecord, RecoveryRecord } from "../runs/shapes";

/**
 * A batch that a trainer sends every 500 ms to the function `ingest-metrics`. Idempotent, also if it is late or comes
 * from two leaders: a point is identified by (run, metric, step), and a deterministic run has one value there.
 */
export interface MetricBatch {
  readonly runId: string;
  readonly series: readonly MetricSeries[];
  /** The latest progress; older progress (by step) is ignored. */
  readonly progress?: TrainingProgress;
  readonly machine?: MachineRecord;
  /** The gang's recoveries from losses. The first record of a generation stays. */
  readonly recoveries?: readonly RecoveryRecord[];
}

/** Points as columns of float64: the i-th is (steps[i], values[i], times[i]). Values may be NaN or infinite. */
export interface PointColumns {
  readonly steps: readonly number[];
  readonly values: readonly number[];
  /** Milliseconds since the epoch. */
  readonly times: readonly number[];
}

/** Points of one metric. Trainers send them with ascending steps. */
export interface MetricSeries extends PointColumns {
  /** `train/loss`, `system/worker-0/rss`, … */
  readonly metric: string;
}

export interface MetricSink {
  /**
   * Resolves once the batch is stored. Idempotent.
   * @throws MetricsRefusedError if the same batch will always be refused
   */
  send(batch: MetricBatch): Promise<void>;
}

export class MetricsRefusedError extends RingmasterError {
  constructor(reason: string, details?: unknown) {
    super(`metrics were refused: ${reason}`, { code: "METRICS_REFUSED", httpStatus: 400, details });
  }
}

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

export interface SeriesPosition {
  /** The last step before the position; −1 at the start. */
  readonly step: number;
  /** Hint where the store continues to search. Opaque to callers; 0 if unknown. */
  readonly item: number;
}

export interface SeriesPage {
  /** Points after the requested position, ascending by step. May be empty although more points follow. */
  readonly points: readonly MetricPoint[];
  readonly position: SeriesPosition;
  readonly more: boolean;
}

/**
 * The port to the metrics of a team's runs. All reads are strongly consistent. A point of a training run is identified
 * by (run, metric, step), a point of a logged run by all its values. Storing a point again changes nothing.
 * @throws RUN_NOT_FOUND in every method but `readMany` and `summariesOf`, for a run that the team does not have
 */
export interface MetricStore {
  /**
   * Stores points, and marks the run in `RunChanges` before it resolves. Without points and receipt it only checks that
   * the run exists.
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
  summaries(runId: string): Promise<readonly MetricSummary[]>;
  /** Reads all points of many runs. Runs of other teams and runs without metrics are omitted. */
  readMany(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricHistory[]>>;
  /** Returns summaries of many runs. Runs of other teams and runs without metrics are omitted. */
  summariesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricSummary[]>>;
}
