import type { MachineRecord, RecoveryRecord } from "../training/run";
import type { TrainingProgress } from "./progress";

export type { TrainingProgress, WorkerProgress } from "./progress";

/**
 * What a trainer sends every 500 ms to the `ingest-metrics` function. Sending it twice, late or from two leaders changes nothing: a point is
 * identified by (run, metric, step), and a deterministic run gives it one value.
 */
export interface MetricBatch {
  readonly runId: string;
  readonly series: readonly MetricSeries[];
  /** Latest state of affairs; older ones (by step) are ignored. */
  readonly progress?: TrainingProgress;
  /** What the sender runs on. */
  readonly machine?: MachineRecord;
  /** How the gang came back from its losses; of one generation the first is kept. */
  readonly recoveries?: readonly RecoveryRecord[];
}

/** Points as parallel columns of float64: the i-th point is (steps[i], values[i], times[i]). Values may be NaN or infinite. */
export interface PointColumns {
  readonly steps: readonly number[];
  readonly values: readonly number[];
  /** Milliseconds since the epoch. */
  readonly times: readonly number[];
}

/** Points of one metric. Steps ascend in what trainers send. */
export interface MetricSeries extends PointColumns {
  /** `train/loss`, `system/worker-0/rss`, … */
  readonly metric: string;
}
