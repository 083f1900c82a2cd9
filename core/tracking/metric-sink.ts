import { RingmasterError } from "../errors";
import type { MetricBatch } from "./metric-batch";

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
