import type { MetricPoint } from "../../core/tracking/metric-store";
import { groupOf } from "../metric-log/fold";
import { eachSeries, pointsAt, unpackPoints } from "../metric-log/packed-points";
import { type DirectoryEntry, noSeries, type StoredSeries, unpackDirectory } from "../metric-log/series";
import type { MetricLog } from "./metric-log";
import { blockKey, type MetricRows } from "./metric-rows";

/** A range of points and its location in storage. */
interface StoredEntry extends DirectoryEntry {
  readonly key: string;
  /** The index among the ranges of its metric in its block. */
  readonly place: number;
}

/** Finds a metric's points: the points that are not folded, and the directory entries of all others. */
export async function readSeries(rows: MetricRows, log: MetricLog, metric: string): Promise<StoredSeries> {
  const id = log.copy.idOf(metric);
  if (id === undefined) return noSeries;
  const { points, folded } = await log.unfolded(id);
  const series: StoredSeries<StoredEntry> = {
    loose: points,
    entries: await entriesOf(rows, log.runId, id, folded),
    openEntries: (some) => open(rows, log.runId, some),
  };
  return series as StoredSeries;
}

async function entriesOf(rows: MetricRows, runId: string, id: number, folded: number): Promise<StoredEntry[]> {
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

async function open(rows: MetricRows, runId: string, entries: readonly StoredEntry[]): Promise<MetricPoint[][]> {
  const blocks = await rows.blocks(runId, [...new Set(entries.map(({ key }) => key))]);
  const unpacked = new Map<string, ReturnType<typeof unpackPoints>>();
  return entries.map(({ key, id, place }) => {
    const data = blocks.get(key);
    if (!data) throw new Error(`the metrics of run ${runId} lack ${key}, which their directory names`);
    const columns = unpacked.get(key) ?? unpackPoints(data);
    unpacked.set(key, columns);
    let points: MetricPoint[] = [];
    let at = 0;
    eachSeries(columns, (one, from, to) => {
      if (one === id && at++ === place) points = pointsAt(columns, from, to);
    });
    return points;
  });
}
