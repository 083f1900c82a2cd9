import { eachLimited } from "../../core/each-limited";
import type { MetricSeries } from "../../core/tracking/metric-batch";
import type { BatchReceipt, MetricSummary } from "../../core/tracking/metric-store";
import { noSeries, type StoredSeries } from "../metric-log/series";
import { type LogLimits, logLimits, MetricLog } from "./metric-log";
import { LogUpkeep } from "./metric-log-upkeep";
import type { LogHead, MetricRows } from "./metric-rows";
import { readSeries } from "./metric-series";
import { SharedLog } from "./shared-metric-log";

/** The memory limit for all logs together. A log in use may exceed it. */
const maxMemoryBytes = 64 * 1024 * 1024;
const maxLogs = 5_000;
/** The number of logs that are refreshed concurrently. */
const readsAtOnce = 16;

interface CachedLog {
  readonly shared: SharedLog;
  users: number;
  bytes: number;
}

/**
 * The logs of all teams' runs. The process caches the logs that it recently wrote or read. Use one per process. All
 * reads are strongly consistent.
 */
export class MetricLogs {
  /** By run, the most recently used last. */
  private readonly cache = new Map<string, CachedLog>();
  private memoryBytes = 0;
  private readonly upkeep = new LogUpkeep();

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
  async seriesAfter(
    runId: string,
    metric: string,
    after: number,
  ): Promise<{ readonly series: StoredSeries; readonly version: number }> {
    const read = async (log: MetricLog) => {
      const { version } = log.copy;
      const id = log.copy.idOf(metric);
      if (after === 0 || id === undefined || !log.copy.isUnfolded(after)) {
        return { series: await readSeries(this.rows, log, metric), version };
      }
      const { points } = await log.unfolded(id, after);
      return { series: { ...noSeries, loose: points }, version };
    };
    if (!this.isLoaded(runId)) return this.withFresh(runId, read);
    return this.use(runId, (shared) => shared.withLoaded(read));
  }

  /** Returns the summaries by name of the metric. */
  summaries(runId: string): Promise<readonly MetricSummary[]> {
    return this.withFresh(runId, ({ copy }) => copy.summaries());
  }

  /** Returns the summaries of runs. Runs without metrics are omitted. */
  async summariesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly MetricSummary[]>> {
    const found = new Map<string, readonly MetricSummary[]>();
    await eachLimited([...(await this.rows.findHeads(runIds))], readsAtOnce, async ([runId, head]) => {
      const isCached = head.grown && this.isLoaded(runId);
      const summaries = isCached ? await this.summaries(runId) : (await this.load(runId, head)).copy.summaries();
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
      const log = await this.load(runId, head);
      const all: { metric: string; series: StoredSeries }[] = [];
      for (const { metric } of log.copy.summaries()) {
        all.push({ metric, series: await readSeries(this.rows, log, metric) });
      }
      await take(runId, all);
    });
  }

  /** Resolves once the points are stored, with whether they had been stored before. */
  append(runId: string, series: readonly MetricSeries[], receipt?: BatchReceipt): Promise<boolean> {
    return this.use(runId, async (shared) => {
      const duplicate = await shared.append(series, receipt);
      await this.upkeep.afterAppend(shared);
      return duplicate;
    });
  }

  private isLoaded(runId: string): boolean {
    return this.cache.get(runId)?.shared.log.isLoaded ?? false;
  }

  /** Loads a log that is not cached. */
  private async load(runId: string, head: LogHead): Promise<MetricLog> {
    const log = new MetricLog(runId, this.rows, this.limits);
    await log.load(head);
    return log;
  }

  private withFresh<T>(runId: string, work: (log: MetricLog) => Promise<T> | T): Promise<T> {
    return this.use(runId, (shared) => shared.withFresh(work));
  }

  /** Runs work on a run's cached log, which stays in the cache until then. */
  private async use<T>(runId: string, work: (shared: SharedLog) => Promise<T>): Promise<T> {
    const cached = this.cache.get(runId) ?? {
      shared: new SharedLog(new MetricLog(runId, this.rows, this.limits)),
      users: 0,
      bytes: 0,
    };
    this.cache.delete(runId);
    this.cache.set(runId, cached);
    cached.users += 1;
    try {
      return await work(cached.shared);
    } finally {
      cached.users -= 1;
      const bytes = cached.shared.log.memoryBytes;
      this.memoryBytes += bytes - cached.bytes;
      cached.bytes = bytes;
      this.evict();
    }
  }

  private evict(): void {
    for (const [runId, { shared, users, bytes }] of this.cache) {
      if (this.memoryBytes <= maxMemoryBytes && this.cache.size <= maxLogs) return;
      if (users > 0 || !this.upkeep.release(shared)) continue;
      this.cache.delete(runId);
      this.memoryBytes -= bytes;
    }
  }
}
