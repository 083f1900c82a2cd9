import { eachLimited } from "../../core/each-limited";
import { runNotFound } from "../../core/runs/errors";
import type { MetricHistory, MetricStore, MetricSummary } from "../../core/tracking/metric-store";
import type { RunChanges } from "../../core/tracking/run-records";
import type { RunIdentity } from "../../core/tracking/shapes";
import { table } from "../../platform/permissions/grants";
import { downsample, followPage, historyPage } from "../metric-log/curves";
import type { LogLimits } from "../metric-log/log-state";
import type { PointIdentity } from "../metric-log/packed-points";
import { openAll } from "../metric-log/series";
import { sharedPort, teamPort } from "../port";
import { documents } from "./client";
import { MetricLog } from "./metric-log";
import { MetricRows } from "./metric-rows";
import { runChanges } from "./run-changes";
import { runIdentities } from "./run-identities";

const maxMemoryBytes = 64 * 1024 * 1024;
const maxLogs = 5_000;
const readsAtOnce = 16;

/** The logs of all teams' runs that the process recently wrote or read. Use one per process. */
export class MetricLogs {
  /** By run, the most recently used last. */
  private readonly cache = new Map<string, { readonly log: MetricLog; users: number; bytes: number }>();
  private memoryBytes = 0;
  private isCompacting = false;

  constructor(
    readonly rows: MetricRows,
    private readonly limits?: LogLimits,
  ) {}

  open(runId: string): MetricLog {
    return new MetricLog(runId, this.rows, this.limits);
  }

  isLoaded(runId: string): boolean {
    return this.cache.get(runId)?.log.isLoaded ?? false;
  }

  async use<T>(runId: string, work: (log: MetricLog) => Promise<T>): Promise<T> {
    const cached = this.cache.get(runId) ?? { log: this.open(runId), users: 0, bytes: 0 };
    this.cache.delete(runId);
    this.cache.set(runId, cached);
    cached.users += 1;
    try {
      return await work(cached.log);
    } finally {
      cached.users -= 1;
      const bytes = cached.log.memoryBytes;
      this.memoryBytes += bytes - cached.bytes;
      cached.bytes = bytes;
      this.evict();
    }
  }

  /**
   * Compacts a log if it is due and no other compaction runs: runs of one rate close their segments at the same time.
   * Callers wait, because a function is frozen once it has answered.
   */
  async compact(log: MetricLog): Promise<void> {
    if (this.isCompacting || !log.needsCompaction) return;
    this.isCompacting = true;
    await log.compact();
    this.isCompacting = false;
  }

  private evict(): void {
    for (const [runId, { users, bytes }] of this.cache) {
      if (this.memoryBytes <= maxMemoryBytes && this.cache.size <= maxLogs) return;
      if (users > 0) continue;
      this.cache.delete(runId);
      this.memoryBytes -= bytes;
    }
  }
}

export interface RunDirectory {
  readonly changes: Pick<RunChanges, "mark">;
  identify(runId: string): Promise<RunIdentity | undefined>;
}

/** See docs/access-patterns.md, "Metrics". @param logs one per process */
export function createMetricStore(logs: MetricLogs, team: string, runs: RunDirectory): MetricStore {
  const owned = async (runId: string): Promise<RunIdentity> => {
    const identity = await runs.identify(runId);
    if (identity?.team !== team) throw runNotFound(runId);
    return identity;
  };

  const ownedAmong = async (runIds: readonly string[]): Promise<ReadonlyMap<string, RunIdentity>> => {
    const identities = await Promise.all(runIds.map((runId) => runs.identify(runId)));
    return new Map(identities.flatMap((one) => (one?.team === team ? [[one.runId, one] as const] : [])));
  };

  const seriesOf = (runId: string, metric: string) => logs.use(runId, (log) => log.series(metric));

  return {
    async append(runId, series, receipt) {
      const identity = await owned(runId);
      if (receipt === undefined && series.every(({ steps }) => steps.length === 0)) return { duplicate: false };
      const duplicate = await logs.use(runId, async (log) => {
        const appended = await log.append(series, receipt);
        await logs.compact(log);
        return appended;
      });
      await runs.changes.mark(identity);
      return { duplicate };
    },
    async read(runId, metric) {
      const identity = pointIdentity(await owned(runId));
      return openAll(await seriesOf(runId, metric), identity);
    },
    async readAfter(runId, metric, { step, item }) {
      const identity = pointIdentity(await owned(runId));
      const { series, version } = await logs.use(runId, (log) => log.seriesAfter(metric, item));
      return followPage(series, identity, step, version);
    },
    async downsample(runId, metric, points, range) {
      const identity = pointIdentity(await owned(runId));
      return downsample(await seriesOf(runId, metric), identity, points, range);
    },
    async history(runId, metric, page) {
      const identity = pointIdentity(await owned(runId));
      return historyPage(await seriesOf(runId, metric), identity, page);
    },
    async summaries(runId) {
      await owned(runId);
      return logs.use(runId, (log) => log.summaries());
    },
    async readMany(runIds) {
      const identities = await ownedAmong(runIds);
      const histories = new Map<string, readonly MetricHistory[]>();
      await eachLimited(
        [...(await logs.rows.findHeads([...identities.keys()]))],
        readsAtOnce,
        async ([runId, head]) => {
          const identity = pointIdentity(identities.get(runId) as RunIdentity);
          const all = await logs.open(runId).allSeries(head);
          const read = all.map(async ({ metric, series }) => ({ metric, points: await openAll(series, identity) }));
          histories.set(runId, await Promise.all(read));
        },
      );
      return histories;
    },
    async summariesOf(runIds) {
      const heads = await logs.rows.findHeads([...(await ownedAmong(runIds)).keys()]);
      const summaries = new Map<string, readonly MetricSummary[]>();
      await eachLimited([...heads], readsAtOnce, async ([runId, head]) => {
        const isCached = head.batched && logs.isLoaded(runId);
        const all = isCached
          ? await logs.use(runId, (log) => log.summaries())
          : (await logs.open(runId).load(head)).summaries();
        if (all.length > 0) summaries.set(runId, all);
      });
      return summaries;
    },
  };
}

/** A deterministic run has one value per step. The points of a client are stored as they were sent. */
function pointIdentity({ source }: RunIdentity): PointIdentity {
  return source === "training" ? "step" : "point";
}

const metricLogs = sharedPort({
  uses: { documents: documents() },
  make: ({ documents }, { config }) => new MetricLogs(new MetricRows(documents, config.tables.metrics)),
});

export const metrics = teamPort({
  uses: { logs: metricLogs(), identities: runIdentities("read"), changes: runChanges() },
  grants: {
    read: [table("Metrics", "GetItem", "BatchGetItem", "Query")],
    write: [
      table("Metrics", "GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "BatchWriteItem"),
      ...runChanges("mark").grants,
    ],
  },
  make: ({ logs, ...ports }, { team }) =>
    createMetricStore(logs, team, { identify: ports.identities.identify, changes: ports.changes }),
});
