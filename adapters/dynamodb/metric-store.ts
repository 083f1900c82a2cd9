import { runNotFound } from "../../core/runs/errors";
import type { MetricHistory, MetricStore } from "../../core/tracking/metric-store";
import type { RunChanges } from "../../core/tracking/run-records";
import type { RunIdentity } from "../../core/tracking/shapes";
import { table } from "../../platform/permissions/grants";
import { downsample } from "../metric-log/downsample";
import type { PointIdentity } from "../metric-log/packed-points";
import { followPage, historyPage } from "../metric-log/point-pages";
import { openAll } from "../metric-log/series";
import { sharedPort, teamPort } from "../port";
import { documents } from "./client";
import { MetricLogs } from "./metric-logs";
import { MetricRows } from "./metric-rows";
import { runChanges } from "./run-changes";
import { runIdentities } from "./run-identities";

/** A team's directory of runs: their identities, and the marks of changes. */
export interface RunDirectory {
  readonly changes: Pick<RunChanges, "mark">;
  identify(runId: string): Promise<RunIdentity | undefined>;
}

/**
 * Stores the metrics of a team's runs in table Metrics (docs/access-patterns.md, "Metrics"). @param logs one per
 * process
 */
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

  return {
    async append(runId, series, receipt) {
      const identity = await owned(runId);
      if (receipt === undefined && series.every(({ steps }) => steps.length === 0)) return { duplicate: false };
      const duplicate = await logs.append(runId, series, receipt);
      await runs.changes.mark(identity);
      return { duplicate };
    },
    async read(runId, metric) {
      const identity = pointIdentity(await owned(runId));
      return openAll(await logs.series(runId, metric), identity);
    },
    async readAfter(runId, metric, { step, item }) {
      const identity = pointIdentity(await owned(runId));
      const { series, version } = await logs.seriesAfter(runId, metric, item);
      return followPage(series, identity, step, version);
    },
    async downsample(runId, metric, points, range) {
      const identity = pointIdentity(await owned(runId));
      return downsample(await logs.series(runId, metric), identity, points, range);
    },
    async history(runId, metric, page) {
      const identity = pointIdentity(await owned(runId));
      return historyPage(await logs.series(runId, metric), identity, page);
    },
    async summaries(runId) {
      await owned(runId);
      return logs.summaries(runId);
    },
    async readMany(runIds) {
      const identities = await ownedAmong(runIds);
      const found = new Map<string, readonly MetricHistory[]>();
      await logs.seriesOf([...identities.keys()], async (runId, all) => {
        const identity = pointIdentity(identities.get(runId) as RunIdentity);
        const histories = all.map(async ({ metric, series }) => ({ metric, points: await openAll(series, identity) }));
        found.set(runId, await Promise.all(histories));
      });
      return found;
    },
    async summariesOf(runIds) {
      return logs.summariesOf([...(await ownedAmong(runIds)).keys()]);
    },
  };
}

/**
 * Returns how points are identified. A deterministic run has one value per step. The points of a client are stored as
 * they were sent.
 */
function pointIdentity({ source }: RunIdentity): PointIdentity {
  return source === "training" ? "step" : "point";
}

/** The logs of all teams' runs. */
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
