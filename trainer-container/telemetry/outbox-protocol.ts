import type { MetricBatch } from "../../core/tracking/metric-batch";

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
