import type { MetricBatch } from "../../core/tracking/metric-batch";

/** Takes metrics to their store, in the order in which they were posted. */
export interface Courier {
  /** Takes a batch at once. Settles when it is stored, refused for good, or lost, which the courier tells of itself; never rejects. */
  post(batch: MetricBatch): Promise<void>;
  /** Resolves when all is sent, or after `patienceMs`; nothing is tried any more after it. */
  close(patienceMs: number): Promise<void>;
}
