import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { BatchReceipt } from "../../core/tracking/metric-store";
import { type Call, type CallPart, draftBatch, partsOf, takeParts } from "./metric-calls";
import { type LogLimits, MetricLog } from "./metric-log";
import type { MetricRows } from "./metric-rows";

/** Of all logs in memory; one that is used meanwhile may be larger. */
const mostMemoryBytes = 64 * 1024 * 1024;
const mostLogs = 5_000;

interface Known {
  readonly log: MetricLog;
  /** Work on the log, one after the other. */
  last: Promise<unknown>;
  /** A refresh that has not begun yet: whoever comes before it begins may share it. */
  refreshing: Promise<void> | undefined;
  readonly queue: CallPart[];
  pumping: boolean;
  upkeep: Promise<void> | undefined;
  users: number;
  bytes: number;
}

/** The logs of the runs that this process lately wrote or read. */
export class MetricLogs {
  /** By last use, the latest at the end. */
  private readonly known = new Map<string, Known>();
  private memoryBytes = 0;
  private lastFold: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly rows: MetricRows,
    private readonly limits: LogLimits,
  ) {}

  /** Works with a log that knows all that was stored before the call. */
  withFresh<T>(runId: string, work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    return this.use(runId, async (known) => {
      known.refreshing ??= this.exclusively(known, () => {
        known.refreshing = undefined;
        return known.log.refresh();
      });
      await known.refreshing;
      return this.exclusively(known, () => work(known.log));
    });
  }

  /** The same as fresh as the last `withFresh`, or fresh where there was none. */
  async withKnown<T>(runId: string, work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    if (!this.known.get(runId)?.log.isLoaded) return this.withFresh(runId, work);
    return this.use(runId, (known) => this.exclusively(known, () => work(known.log)));
  }

  has(runId: string): boolean {
    return this.known.get(runId)?.log.isLoaded ?? false;
  }

  /** Resolves with whether it was stored before, once it is stored. Calls that come while others are being written go into one batch. */
  append(runId: string, series: readonly MetricSeries[], receipt: BatchReceipt | undefined): Promise<boolean> {
    return this.use(runId, async (known) => {
      const stored = new Promise<boolean>((settle, fail) => {
        known.queue.push(...partsOf(series, { receipt, settle, fail, failed: false }));
      });
      if (!known.pumping) void this.pump(known);
      const duplicate = await stored;
      // Whoever finds work to be done waits for it: a function is frozen once it has answered.
      if (known.upkeep || known.log.needsUpkeep) await this.upkeep(known);
      return duplicate;
    });
  }

  private async pump(known: Known): Promise<void> {
    known.pumping = true;
    for (let parts = takeParts(known.queue); parts.length > 0; parts = takeParts(known.queue)) {
      const duplicates = new Set<Call>();
      try {
        await this.exclusively(known, () => known.log.append((log) => draftBatch(log, parts, duplicates)));
        for (const { call, isLast } of parts) if (isLast) call.settle(duplicates.has(call));
      } catch (error) {
        for (const { call } of parts) {
          call.failed = true;
          call.fail(error);
        }
      }
    }
    known.pumping = false;
  }

  /** Nothing depends on it: what fails now is done with the next batch. */
  private upkeep(known: Known): Promise<void> {
    known.upkeep ??= (known.log.needsFold ? this.foldInTurn(known) : this.exclusively(known, () => known.log.upkeep()))
      .catch(() => known.log.forget())
      .finally(() => {
        known.upkeep = undefined;
      });
    return known.upkeep;
  }

  /** Runs that are written alike close their segments together: folded side by side, they would keep all other calls waiting. */
  private foldInTurn(known: Known): Promise<void> {
    const folded = this.lastFold.then(() => this.exclusively(known, () => known.log.upkeep()));
    this.lastFold = folded.catch(() => undefined);
    return folded;
  }

  private exclusively<T>(known: Known, work: () => Promise<T> | T): Promise<T> {
    const done = known.last.then(work);
    known.last = done.catch(() => undefined);
    return done;
  }

  private async use<T>(runId: string, work: (known: Known) => Promise<T>): Promise<T> {
    let known = this.known.get(runId);
    if (known) this.known.delete(runId);
    else {
      known = {
        log: new MetricLog(runId, this.rows, this.limits),
        last: Promise.resolve(),
        refreshing: undefined,
        queue: [],
        pumping: false,
        upkeep: undefined,
        users: 0,
        bytes: 0,
      };
    }
    this.known.set(runId, known);
    known.users += 1;
    try {
      return await work(known);
    } finally {
      known.users -= 1;
      const bytes = known.log.memoryBytes;
      this.memoryBytes += bytes - known.bytes;
      known.bytes = bytes;
      this.evict();
    }
  }

  private evict(): void {
    if (this.memoryBytes <= mostMemoryBytes && this.known.size <= mostLogs) return;
    for (const [runId, known] of this.known) {
      if (known.users > 0) continue;
      this.known.delete(runId);
      this.memoryBytes -= known.bytes;
      if (this.memoryBytes <= mostMemoryBytes && this.known.size <= mostLogs) return;
    }
  }
}
