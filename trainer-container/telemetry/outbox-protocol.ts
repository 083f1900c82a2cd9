import type { MetricBatch } from "../../core/tracking/metric-store";

/** Sends metrics to their store, in the order in which they were posted. */
export interface Sender {
  /** Takes a batch at once. Settles when it is stored, permanently refused, or lost, which the sender reports; never rejects. */
  post(batch: MetricBatch): Promise<void>;
  /** Resolves when all is sent, or after `patienceMs`. It does not try again after that. */
  close(patienceMs: number): Promise<void>;
}

export interface OutboxThreadSettings {
  readonly ingestFunction: string;
  /** Directory of batches that wait on disk. */
  readonly directory: string;
}

export type OutboxRequest =
  | { readonly kind: "post"; readonly id: number; readonly batch: MetricBatch }
  | { readonly kind: "close"; readonly patienceMs: number };

export type OutboxReply =
  | { readonly kind: "gone"; readonly id: number }
  | { readonly kind: "trouble"; readonly message: string; readonly error: Error | undefined }
  | { readonly kind: "closed" };
