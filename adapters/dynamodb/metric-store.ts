import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import type { MetricPoint, MetricSummary } from "../../core/tracking/metric-repository";
import { type AllMetrics, noSeries } from "../../core/tracking/metrics/all-metrics";
import { type DirectoryEntry, unpackDirectory } from "../../core/tracking/metrics/directory";
import { groupOf } from "../../core/tracking/metrics/fold";
import { eachSeries, unpackPoints } from "../../core/tracking/metrics/packed-points";
import type { StoredSeries } from "../../core/tracking/metrics/series";
import { type LogLimits, logLimits, MetricLog } from "./metric-log";
import { MetricLogs } from "./metric-logs";
import { blockKey, MetricRows } from "./metric-rows";

/** Logs whose ends are asked for side by side. */
const readsAtOnce = 16;

/** A stretch of points with where it lies. */
interface StoredEntry extends DirectoryEntry {
  readonly key: string;
  /** The how manieth of its metric in its block. */
  readonly place: number;
}

/** Metrics of all runs in table Metrics; docs/access-patterns.md, "Metrics". One for a process, which remembers the logs of the runs that it meets. */
export function createMetricStore(
  client: DynamoDBDocumentClient,
  table: string,
  limits: LogLimits = logLimits,
): AllMetrics {
  const rows = new MetricRows(client, table);
  const logs = new MetricLogs(rows, limits);

  async function entriesOf(runId: string, id: number, folded: number): Promise<StoredEntry[]> {
    if (folded === 0) return [];
    const group = groupOf(id);
    const found = await rows.directories(runId, group, folded);
    return found.flatMap(({ segment, data }) => {
      const entries = unpackDirectory(data, id);
      return entries.map((entry, i) => ({
        ...entry,
        key: blockKey(group, segment, entry.block),
        place: entries.slice(0, i).filter(({ block }) => block === entry.block).length,
      }));
    });
  }

  async function open(runId: string, entries: readonly StoredEntry[]): Promise<MetricPoint[][]> {
    const blocks = await rows.blocks(runId, [...new Set(entries.map(({ key }) => key))]);
    const unpacked = new Map<string, ReturnType<typeof unpackPoints>>();
    return entries.map(({ key, id, place }) => {
      const data = blocks.get(key);
      if (!data) throw new Error(`the metrics of run ${runId} lack ${key}, which their directory names`);
      const columns = unpacked.get(key) ?? unpackPoints(data);
      unpacked.set(key, columns);
      const { steps, times, values } = columns;
      const points: MetricPoint[] = [];
      let at = 0;
      eachSeries(columns, (one, from, to) => {
        if (one !== id || at++ !== place) return;
        for (let i = from; i < to; i += 1) points.push({ step: steps[i]!, value: values[i]!, time: times[i]! });
      });
      return points;
    });
  }

  async function seriesOf(runId: string, log: MetricLog, metric: string): Promise<StoredSeries> {
    const id = log.idOf(metric);
    if (id === undefined) return noSeries;
    const { points, folded } = await log.unfolded(id);
    const entries = await entriesOf(runId, id, folded);
    const series: StoredSeries<StoredEntry> = { loose: points, entries, openEntries: (some) => open(runId, some) };
    return series as StoredSeries;
  }

  return {
    async append(runId, series, receipt) {
      return { duplicate: await logs.append(runId, series, receipt) };
    },

    series: (runId, metric) => logs.withFresh(runId, (log) => seriesOf(runId, log, metric)),

    seriesAfter: (runId, metric, version) =>
      logs.withKnown(runId, async (log) => {
        const id = log.idOf(metric);
        if (version === 0 || id === undefined || !log.isUnfolded(version)) {
          return { series: await seriesOf(runId, log, metric), version: log.version };
        }
        const { points } = await log.unfolded(id, version);
        return { series: { ...noSeries, loose: points }, version: log.version };
      }),

    summaries: (runId) => logs.withFresh(runId, (log) => log.summaries()),

    async summariesOf(runIds) {
      const heads = await rows.findHeads(runIds);
      const found = new Map<string, readonly MetricSummary[]>();
      const growing: string[] = [];
      for (const [runId, head] of heads) {
        if (head.grown) growing.push(runId);
        else found.set(runId, logOf(runId, head).summaries());
      }
      const takeGrowing = async (): Promise<void> => {
        for (let runId = growing.shift(); runId !== undefined; runId = growing.shift()) {
          if (logs.has(runId)) {
            found.set(runId, await logs.withFresh(runId, (log) => log.summaries()));
            continue;
          }
          const log = logOf(runId, heads.get(runId)!);
          log.applyAll(await rows.batches(runId, log.version));
          found.set(runId, log.summaries());
        }
      };
      await Promise.all(Array.from({ length: readsAtOnce }, takeGrowing));
      for (const [runId, summaries] of found) if (summaries.length === 0) found.delete(runId);
      return found;
    },
  };

  function logOf(runId: string, head: Parameters<MetricLog["applyHead"]>[0]): MetricLog {
    const log = new MetricLog(runId, rows, limits);
    log.applyHead(head);
    return log;
  }
}
