import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { BatchReceipt } from "../../core/tracking/metric-store";
import { type Call, type CallPart, draftBatch, partsOf, takeParts } from "./metric-calls";
import type { MetricLog } from "./metric-log";

/**
 * A run's log that concurrent calls of the process share: runs their work one after another, reads once for all that
 * wait, and groups appends.
 */
export class SharedLog {
  /** The last work on the log. */
  private last: Promise<unknown> = Promise.resolve();
  /** A refresh that has not begun. Callers that arrive before it begins share it. */
  private refreshing: Promise<void> | undefined;
  private readonly queue: CallPart[] = [];
  private isWriting = false;

  constructor(readonly log: MetricLog) {}

  /** Runs work on a log that includes everything that was stored before the call. */
  async withFresh<T>(work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    this.refreshing ??= this.exclusively((log) => {
      this.refreshing = undefined;
      return log.refresh();
    });
    await this.refreshing;
    return this.withLoaded(work);
  }

  /**
   * Runs work on a loaded log, as recent as the last `withFresh`. Earlier failed work may have discarded the log, which
   * must not be taken for an empty one.
   */
  withLoaded<T>(work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    return this.exclusively(async (log) => {
      if (!log.isLoaded) await log.refresh();
      return work(log);
    });
  }

  /** Runs work whose failure does no harm. A later call repeats it with the data stored by then. */
  async attempt(work: (log: MetricLog) => Promise<void>): Promise<void> {
    await this.exclusively(work).catch(() => this.log.forget());
  }

  /**
   * Resolves once the points are stored, with whether they had been stored before. Calls that arrive during a write are
   * grouped into one batch.
   */
  append(series: readonly MetricSeries[], receipt?: BatchReceipt): Promise<boolean> {
    return new Promise<boolean>((settle, fail) => {
      this.queue.push(...partsOf(series, { receipt, settle, fail, failed: false }));
      if (!this.isWriting) void this.writeQueue();
    });
  }

  private async writeQueue(): Promise<void> {
    this.isWriting = true;
    for (let parts = takeParts(this.queue); parts.length > 0; parts = takeParts(this.queue)) {
      const duplicates = new Set<Call>();
      try {
        await this.exclusively((log) => log.append((copy) => draftBatch(copy, parts, duplicates)));
        for (const { call, isLast } of parts) if (isLast) call.settle(duplicates.has(call));
      } catch (error) {
        for (const { call } of parts) {
          call.failed = true;
          call.fail(error);
        }
      }
    }
    this.isWriting = false;
  }

  private exclusively<T>(work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    const done = this.last.then(() => work(this.log));
    this.last = done.catch(() => undefined);
    return done;
  }
}
