import { eachLimited } from "../../core/each-limited";
import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { BatchReceipt, MetricSummary } from "../../core/tracking/metric-store";
import { noSeries, type StoredSeries } from "../../core/tracking/metrics/series";
import { type Call, type CallPart, draftBatch, partsOf, takeParts } from "./metric-calls";
import { type LogLimits, logLimits, MetricLog } from "./metric-log";
import type { LogHead, MetricRows } from "./metric-rows";
import { readSeries } from "./metric-series";

/** Of all logs in memory; one that is used meanwhile may be larger. */
const mostMemoryBytes = 64 * 1024 * 1024;
const mostLogs = 5_000;
/** Logs whose ends are read at the same time. */
const readsAtOnce = 16;
/** Groups are folded so many times faster than segments that are closed need it: half of the time there is nothing to fold. */
const foldingPace = 2;
/** Of a group, that each call folds at least: what others have left is done in the end, too. */
const leastFolding = 1 / 8;
/** Some ten milliseconds: no other call is kept waiting for longer. */
const mostGroups = 8;
/**
 * Past so many closed segments the call that finds them folds the oldest: who reads has no more than those to read by batches. Only of thousands of metrics a
 * segment has more groups than calls fold by and by; where much was left, several calls do it, for none is to take as long as all of it.
 */
const mostClosedSegments = 2;

interface Known {
  readonly log: MetricLog;
  /** Work on the log, one after the other. */
  last: Promise<unknown>;
  /** A refresh that has not begun yet: whoever comes before it begins may share it. */
  refreshing: Promise<void> | undefined;
  readonly queue: CallPart[];
  pumping: boolean;
  users: number;
  bytes: number;
}

/**
 * The logs of all teams' runs, of which this process remembers those that it recently wrote or read. One for a process. All reads are strongly consistent.
 */
export class MetricLogs {
  /** By last use, the latest at the end. */
  private readonly known = new Map<string, Known>();
  private memoryBytes = 0;
  /** Those that have a closed segment, in the order in which they got it. Only of the first there is more in memory than the log. */
  private readonly toFold: Known[] = [];
  /** Groups that calls have not folded yet and are to. */
  private foldingDue = 0;
  private isFolding = false;

  constructor(
    private readonly rows: MetricRows,
    private readonly limits: LogLimits = logLimits,
  ) {}

  /** Finds a metric's points. A metric that the run does not have has no points. */
  series(runId: string, metric: string): Promise<StoredSeries> {
    return this.withFresh(runId, (log) => readSeries(this.rows, log, metric));
  }

  /** Finds the points of a metric past a version of the log, perhaps with earlier ones. As fresh as the last `summaries` here. */
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

  /** By name of the metric. */
  summaries(runId: string): Promise<readonly MetricSummary[]> {
    return this.withFresh(runId, (log) => log.summaries());
  }

  /** Runs without metrics are left out. */
  async summariesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricSummary[]>> {
    const found = new Map<string, readonly MetricSummary[]>();
    await eachLimited([...(await this.rows.findHeads(runIds))], readsAtOnce, async ([runId, head]) => {
      const summaries = await this.summariesFrom(runId, head);
      if (summaries.length > 0) found.set(runId, summaries);
    });
    return found;
  }

  private async summariesFrom(runId: string, head: LogHead): Promise<readonly MetricSummary[]> {
    if (head.grown && this.known.get(runId)?.log.isLoaded) return this.summaries(runId);
    const log = new MetricLog(runId, this.rows, this.limits);
    log.applyHead(head);
    if (head.grown) log.applyAll(await this.rows.batches(runId, log.version));
    return log.summaries();
  }

  /** Works with a log that knows all that was stored before the call. */
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

  /** The same as fresh as the last `withFresh`, or fresh where there was none. */
  private async withKnown<T>(runId: string, work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    if (!this.known.get(runId)?.log.isLoaded) return this.withFresh(runId, work);
    return this.use(runId, (known) => this.withLoaded(known, work));
  }

  /** What failed before it, since it was asked for, may have left the log forgotten: nobody takes that for an empty one. */
  private withLoaded<T>(known: Known, work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    return this.exclusively(known, async () => {
      if (!known.log.isLoaded) await known.log.refresh();
      return work(known.log);
    });
  }

  /** Resolves with whether it was stored before, once it is stored. Calls that come while others are being written go into one batch. */
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
   * What nobody waits for, but is done before the answer: a function is frozen once it has answered. All who write fold a little each, of whose run it
   * may be: a whole segment at once would take a call as long as a hundred others, and runs that are written alike close theirs together.
   */
  private async upkeep(known: Known): Promise<void> {
    if (known.log.needsStateKept) await this.leniently(known, () => known.log.keepState());
    const { closedSegments } = known.log;
    if (closedSegments > 0 && !this.toFold.includes(known)) this.toFold.push(known);
    if (closedSegments > mostClosedSegments) {
      await this.leniently(known, async () => {
        await known.log.fold(Number.POSITIVE_INFINITY);
      });
    }
    if (this.toFold.length === 0) return;
    this.foldingDue += Math.max(leastFolding, foldingPace * known.log.groupsPerBatch);
    if (this.isFolding || this.foldingDue < 1) return;
    const groups = Math.min(Math.floor(this.foldingDue), mostGroups);
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

  /** Nothing depends on it: what fails now is done with a later call, by what is stored then. */
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
    if (this.memoryBytes <= mostMemoryBytes && this.known.size <= mostLogs) return;
    for (const [runId, known] of this.known) {
      if (known.users > 0 || known === this.toFold[0]) continue;
      this.known.delete(runId);
      const waiting = this.toFold.indexOf(known);
      if (waiting > 0) this.toFold.splice(waiting, 1);
      this.memoryBytes -= known.bytes;
      if (this.memoryBytes <= mostMemoryBytes && this.known.size <= mostLogs) return;
    }
  }
}
