import { RingmasterError } from "../errors";
import type { MetricBatch } from "./metric-batch";

/** Where a trainer's metrics go. */
export interface MetricSink {
  /**
   * Resolves once the batch is stored. Sending it again changes nothing.
   * @throws MetricsRefusedError where sending the same batch again is of no use.
   */
  send(batch: MetricBatch): Promise<void>;
}

/** The receiver looked at the batch and does not want it. */
export class MetricsRefusedError extends RingmasterError {
  constructor(reason: string, details?: unknown) {
    super(`metrics were refused: ${reason}`, { code: "METRICS_REFUSED", httpStatus: 400, details });
  }
}
