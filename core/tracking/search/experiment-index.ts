import { eachLimited, inParts } from "../../each-limited";
import type { Clock } from "../../ports";
import type { MetricStore } from "../metric-store";
import { changesKeptMs, clockSkewMs, type RunChanges, type RunRecords } from "../run-records";
import type { RunRecord } from "../shapes";
import { RowMaker, type SearchRow } from "./row";

export interface IndexSources {
  readonly records: Pick<RunRecords, "findMany" | "list">;
  readonly changes: Pick<RunChanges, "since">;
  readonly metrics: Pick<MetricStore, "summariesOf">;
  readonly clock: Clock;
}

/** Maximum delay of a list of records (`RunRecords.list`). */
const listLagMs = 60_000;
/** Runs per read: a `BatchGetItem` takes 100 keys. */
const batchSize = 100;
const batchesAtOnce = 8;

/**
 * All runs of an experiment, in memory. They are loaded once. Before each search, runs that were marked as changed
 * since the last refresh are read again, strongly consistently. The look-back starts `clockSkewMs` before the last
 * refresh, so that marks of clocks that differ, and changes after their second's mark was read, are found by the next
 * refresh.
 */
export class ExperimentIndex {
  private readonly rows = new Map<string, SearchRow>();
  private readonly maker = new RowMaker();
  /** The local time at which the last refresh started. */
  private lookedAt: number | undefined;
  private running: Promise<void> | undefined;
  private waiting: Promise<void> | undefined;

  constructor(
    private readonly experimentId: string,
    private readonly sources: IndexSources,
  ) {}

  get size(): number {
    return this.rows.size;
  }

  all(): Iterable<SearchRow> {
    return this.rows.values();
  }

  /**
   * Resolves once the index has every change that was acknowledged before the call. A running refresh may have read
   * before that, so callers wait together for the next one.
   */
  refresh(): Promise<void> {
    if (this.waiting) return this.waiting;
    if (this.running) {
      this.waiting = this.running
        .catch(() => undefined)
        .then(() => {
          this.waiting = undefined;
          return this.start();
        });
      return this.waiting;
    }
    return this.start();
  }

  private start(): Promise<void> {
    const running = this.look().finally(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }

  private async look(): Promise<void> {
    const { clock, changes } = this.sources;
    const now = clock.now();
    const last = this.lookedAt;
    // Marks expire, and a clock may have been set.
    const known = last !== undefined && Math.abs(now - last) < changesKeptMs / 2;
    if (!known) await this.load();
    const since = known ? Math.min(now, last) : now - listLagMs;
    await this.reload(await changes.since(this.experimentId, since - clockSkewMs));
    this.lookedAt = now;
  }

  private async load(): Promise<void> {
    const listed = new Set<string>();
    for await (const page of this.sources.records.list(this.experimentId)) {
      for (const { runId } of page) listed.add(runId);
      await eachLimited(inParts(page, batchSize), batchesAtOnce, async (records) => {
        const summaries = await this.sources.metrics.summariesOf(records.map(({ runId }) => runId));
        for (const record of records) this.put(record, summaries.get(record.runId) ?? []);
      });
    }
    for (const runId of this.rows.keys()) if (!listed.has(runId)) this.rows.delete(runId);
  }

  private async reload(runIds: readonly string[]): Promise<void> {
    const { records, metrics } = this.sources;
    await eachLimited(inParts(runIds, batchSize), batchesAtOnce, async (ids) => {
      const [found, summaries] = await Promise.all([records.findMany(ids), metrics.summariesOf(ids)]);
      const byId = new Map(found.map((record) => [record.runId, record]));
      for (const runId of ids) {
        const record = byId.get(runId);
        if (record?.experimentId === this.experimentId) this.put(record, summaries.get(runId) ?? []);
        else this.rows.delete(runId);
      }
    });
  }

  private put(record: RunRecord, summaries: Parameters<RowMaker["make"]>[1]): void {
    this.rows.set(record.runId, this.maker.make(record, summaries));
  }
}
