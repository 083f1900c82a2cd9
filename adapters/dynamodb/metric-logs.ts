import { eachLimited } from "../../core/each-limited";
import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { BatchReceipt, MetricSummary } from "../../core/tracking/metric-store";
import { noSeries, type StoredSeries } from "../metric-log/series";
import { type Call, type CallPart, draftBatch, partsOf, takeParts } from "./metric-calls";
import { type LogLimits, logLimits, MetricLog } from "./metric-log";
import type { LogHead, MetricRows } from "./metric-rows";
import { readSeries } from "./metric-series";

/** The memory limit for all logs together. A log in use may exceed it. */
const maxMemoryBytes = 64 * 1024 * 1024;
const maxLogs = 5_000;
/** The number of logs that are refreshed concurrently. */
const readsAtOnce = 16;
/** The rate of folding, relative to the rate at which segments close. At 2, half of the calls find nothing to fold. */
const foldingPace = 2;
/** The minimum part of a group that each call folds, so that the work that other processes left is also completed. */
const minFolding = 1 / 8;
/**
 * The maximum number of groups that one call folds, about ten milliseconds of work. No other call waits longer than
 * that.
 */
const maxGroups = 8;
/**
 * The number of closed segments beyond which a call folds the oldest one, so that readers have few unfolded segments.
 * Only a segment with thousands of metrics has more groups than the regular folding covers. Several calls then share
 * the work.
 */
const maxClosedSegments = 2;

interface Known {
  readonly log: MetricLog;
  /** The last work on the log. Work runs one after another. */
  last: Promise<unknown>;
  /** A refresh that has not begun. Callers that arrive before it begins share it. */
  refreshing: Promise<void> | undefined;
  readonly queue: CallPart[];
  pumping: boolean;
  users: number;
  bytes: number;
}

/**
 * The logs of all teams' runs. The process caches the logs that it recently wrote or read. Use one per process. All
 * reads are strongly consistent.
 */
export class MetricLogs {
  /** The known logs, the most recently used last. */
  private readonly known = new Map<string, Known>();
  private memoryBytes = 0;
  /**
   * The logs with a closed segment, in the order in which it closed. Only the first one keeps folding data in memory.
   */
  private readonly toFold: Known[] = [];
  /** The number of groups that calls still have to fold. */
  private foldingDue = 0;
  private isFolding = false;

  constructor(
    private readonly rows: MetricRows,
    private readonly limits: LogLimits = logLimits,
  ) {}

  /** Returns a metric's points. An unknown metric has no points. */
  series(runId: string, metric: string): Promise<StoredSeries> {
    return this.withFresh(runId, (log) => readSeries(this.rows, log, metric));
  }

  /**
   * Returns the points of a metric after a version of the log, and possibly earlier ones. They are as recent as the
   * last `summaries` call here.
   */
  seriesAfter(
    runId: string,
    metric: string,
    version: number,
  ): Promise<{ readonly series: StoredSeries; readonly version: number }> {
    return this.withKnown(runId, async (log) => {
      const id = log.idOf(metric);
      if (version === 0 || id === undefined || !log.isUnfolded(version)) {
        return { series: await readSeries(this.rows, log, metric), version: log.version };
      }
      const { points } = await log.unfolded(id, version);
      return { series: { ...noSeries, loose: points }, version: log.version };
    });
  }

  /** Returns the summaries by name of the metric. */
  summaries(runId: string): Promise<readonly MetricSummary[]> {
    return this.withFresh(runId, (log) => log.summaries());
  }

  /** Returns the summaries of runs. Runs without metrics are omitted. */
  async summariesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricSummary[]>> {
    const found = new Map<string, readonly MetricSummary[]>();
    await eachLimited([...(await this.rows.findHeads(runIds))], readsAtOnce, async ([runId, head]) => {
      const summaries = await this.summariesFrom(runId, head);
      if (summaries.length > 0) found.set(runId, summaries);
    });
    return found;
  }

  /** Reads all metrics of runs, several runs at the same time, without keeping their logs. */
  async seriesOf(
    runIds: readonly string[],
    take: (runId: string, all: readonly { metric: string; series: StoredSeries }[]) => Promise<void>,
  ): Promise<void> {
    await eachLimited([...(await this.rows.findHeads(runIds))], readsAtOnce, async ([runId, head]) => {
      const log = await this.logFrom(runId, head);
      const all: { metric: string; series: StoredSeries }[] = [];
      for (const { metric } of log.summaries()) all.push({ metric, series: await readSeries(this.rows, log, metric) });
      await take(runId, all);
    });
  }

  private async summariesFrom(runId: string, head: LogHead): Promise<readonly MetricSummary[]> {
    if (head.grown && this.known.get(runId)?.log.isLoaded) return this.summaries(runId);
    return (await this.logFrom(runId, head)).summaries();
  }

  private async logFrom(runId: string, head: LogHead): Promise<MetricLog> {
    const log = new MetricLog(runId, this.rows, this.limits);
    log.applyHead(head);
    if (head.grown) log.applyAll(await this.rows.batches(runId, log.version));
    return log;
  }

  /** Runs work on a log that includes everything that was stored before the call. */
  private withFresh<T>(runId: string, work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    return this.use(runId, async (known) => {
      known.refreshing ??= this.exclusively(known, () => {
        known.refreshing = undefined;
        return known.log.refresh();
      });
      await known.refreshing;
      return this.withLoaded(known, work);
    });
  }

  /** Runs work on a log as recent as the last `withFresh`. Refreshes the log if there was none. */
  private async withKnown<T>(runId: string, work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    if (!this.known.get(runId)?.log.isLoaded) return this.withFresh(runId, work);
    return this.use(runId, (known) => this.withLoaded(known, work));
  }

  /**
   * Runs work on a loaded log. Earlier failed work may have discarded the log, which must not be taken for an empty
   * one.
   */
  private withLoaded<T>(known: Known, work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    return this.exclusively(known, async () => {
      if (!known.log.isLoaded) await known.log.refresh();
      return work(known.log);
    });
  }

  /**
   * Resolves once the points are stored, with whether they had been stored before. Calls that arrive during a write are
   * grouped into one batch.
   */
  append(runId: string, series: readonly MetricSeries[], receipt?: BatchReceipt): Promise<boolean> {
    return this.use(runId, async (known) => {
      const stored = new Promise<boolean>((settle, fail) => {
        known.queue.push(...partsOf(series, { receipt, settle, fail, failed: false }));
      });
      if (!known.pumping) void this.pump(known);
      const duplicate = await stored;
      await this.upkeep(known);
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

  /**
   * Does maintenance that no caller waits for, but before the answer, because a function is frozen once it has
   * answered. Every writer folds a little of some run's segments. Folding a whole segment at once would take as long as
   * a hundred calls, and runs with the same rate close their segments at the same time.
   */
  private async upkeep(known: Known): Promise<void> {
    if (known.log.needsStateKept) await this.leniently(known, () => known.log.keepState());
    const { closedSegments } = known.log;
    if (closedSegments > 0 && !this.toFold.includes(known)) this.toFold.push(known);
    if (closedSegments > maxClosedSegments) {
      await this.leniently(known, async () => {
        await known.log.fold(Number.POSITIVE_INFINITY);
      });
    }
    if (this.toFold.length === 0) return;
    this.foldingDue += Math.max(minFolding, foldingPace * known.log.groupsPerBatch);
    if (this.isFolding || this.foldingDue < 1) return;
    const groups = Math.min(Math.floor(this.foldingDue), maxGroups);
    this.foldingDue -= groups;
    this.isFolding = true;
    await this.foldFirst(groups);
    this.isFolding = false;
  }

  private async foldFirst(groups: number): Promise<void> {
    const first = this.toFold[0]!;
    let done = true;
    await this.leniently(first, async () => {
      done = await first.log.fold(groups);
    });
    if (done) this.toFold.shift();
  }

  /** Runs work whose failure does no harm. A later call repeats it with the data stored by then. */
  private leniently(known: Known, work: () => Promise<void>): Promise<void> {
    return this.exclusively(known, work).catch(() => known.log.forget());
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
    if (this.memoryBytes <= maxMemoryBytes && this.known.size <= maxLogs) return;
    for (const [runId, known] of this.known) {
      if (known.users > 0 || known === this.toFold[0]) continue;
      this.known.delete(runId);
      const waiting = this.toFold.indexOf(known);
      if (waiting > 0) this.toFold.splice(waiting, 1);
      this.memoryBytes -= known.bytes;
      if (this.memoryBytes <= maxMemoryBytes && this.known.size <= maxLogs) return;
    }
  }
}
