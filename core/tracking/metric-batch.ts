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
  /** The sender's machine. */
  readonly machine?: MachineRecord;
  /** The gang's recoveries from losses. The first record of a generation stays. */
  readonly recoveries?: readonly RecoveryRecord[];
}

/**
 * Points as parallel columns of float64: the i-th point is (steps[i], values[i], times[i]). Values may be NaN or
 * infinite.
 */
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

/** The destination of a trainer's metrics. */
export interface MetricSink {
  /**
   * Resolves once the batch is stored. Idempotent.
   *
   * @throws MetricsRefusedError if the same batch will always be refused
   */
  send(batch: MetricBatch): Promise<void>;
}

/** Thrown when the receiver refuses a batch permanently. */
export class MetricsRefusedError extends RingmasterError {
  constructor(reason: string, details?: unknown) {
    super(`metrics were refused: ${reason}`, { code: "METRICS_REFUSED", httpStatus: 400, details });
  }
}
