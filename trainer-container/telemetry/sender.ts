import type { MetricBatch } from "../../core/tracking/metric-batch";

/** Sends metrics to their store, in the order in which they were posted. */
export interface Sender {
  /** Takes a batch at once. Settles when it is stored, permanently refused, or lost, which the sender reports; never rejects. */
  post(batch: MetricBatch): Promise<void>;
  /** Resolves when all is sent, or after `patienceMs`. It does not try again after that. */
  close(patienceMs: number): Promise<void>;
}
