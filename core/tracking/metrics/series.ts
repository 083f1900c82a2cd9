import type { MetricPoint, PointRange } from "../metric-store";
import type { DirectoryEntry } from "./directory";
import { comparePoints, mergePoints, type PointIdentity } from "./points";

/** A metric's stored points: some are loaded, most are in blocks of which only the directory is loaded. */
export interface StoredSeries<Entry extends DirectoryEntry = DirectoryEntry> {
  /** In any order, possibly with duplicates. */
  readonly loose: readonly MetricPoint[];
  readonly entries: readonly Entry[];
  /** Reads the points of some entries, each entry's in order. */
  openEntries(entries: readonly Entry[]): Promise<readonly (readonly MetricPoint[])[]>;
}

export const noSeries: StoredSeries = { loose: [], entries: [], openEntries: async () => [] };

/** A series without duplicates: entries overlap neither each other nor a loose point, and all are within the range. */
export interface ApartSeries<Entry extends DirectoryEntry = DirectoryEntry> extends StoredSeries<Entry> {
  /** In order, without duplicates. */
  readonly loose: readonly MetricPoint[];
  /** In order. */
  readonly entries: readonly Entry[];
  readonly total: number;
}

/** Number of rounds in which only the wider of two overlapping entries is read. Later rounds read both. */
const patientRounds = 3;

/**
 * Reads the entries that would otherwise be counted twice: those that reach over the range's ends, and those that
 * overlap others because points arrived late or twice. If a run's points arrived in order, almost nothing is read.
 */
export async function setApart<Entry extends DirectoryEntry>(
  series: StoredSeries<Entry>,
  identity: PointIdentity,
  range: PointRange = {},
): Promise<ApartSeries<Entry>> {
  const { fromTime, toTime, ...steps } = range;
  if (identity === "step" && (fromTime !== undefined || toTime !== undefined)) {
    // The point that counts for a step is known only after all its points are read; then times apply.
    const all = await openAll(await setApart(series, identity, steps), identity);
    const loose = all.filter(within(range));
    return { loose, entries: [], total: loose.length, openEntries: series.openEntries };
  }
  let loose = mergePoints(series.loose.filter(within(range)), identity);
  let closed = series.entries.filter((entry) => touches(entry, range)).sort((a, b) => comparePoints(a.first, b.first));
  for (let round = 0; ; round += 1) {
    const opening =
      round === 0
        ? closed.filter((entry) => reachesOut(entry, range) || (identity === "step" && entry.repeats))
        : meeting(closed, loose, identity, round <= patientRounds);
    if (round > 0 && opening.length === 0) break;
    const chosen = new Set(opening);
    const opened = await series.openEntries(opening);
    closed = closed.filter((entry) => !chosen.has(entry));
    loose = mergePoints([...loose, ...opened.flat().filter(within(range))], identity);
  }
  const total = closed.reduce((sum, { count }) => sum + count, loose.length);
  return { loose, entries: closed, total, openEntries: series.openEntries };
}

/** Reads all points, in order. */
export async function openAll(series: StoredSeries, identity: PointIdentity): Promise<MetricPoint[]> {
  const opened = await series.openEntries(series.entries);
  return mergePoints([...series.loose, ...opened.flat()], identity);
}

function meeting<Entry extends DirectoryEntry>(
  entries: readonly Entry[],
  loose: readonly MetricPoint[],
  identity: PointIdentity,
  patient: boolean,
): Entry[] {
  const order = identity === "step" ? (a: MetricPoint, b: MetricPoint) => a.step - b.step : comparePoints;
  const chosen = new Set<Entry>();
  let before: Entry | undefined;
  for (const entry of entries) {
    if (before && order(entry.first, before.last) <= 0) {
      const wider = width(entry) > width(before) ? entry : before;
      chosen.add(wider);
      if (!patient) chosen.add(entry).add(before);
      const other = wider === entry ? before : entry;
      before = patient ? other : order(entry.last, before.last) > 0 ? entry : before;
    } else before = entry;
  }
  let at = 0;
  for (const entry of entries) {
    while (at < loose.length && order(loose[at]!, entry.first) < 0) at += 1;
    if (at < loose.length && order(loose[at]!, entry.last) <= 0) chosen.add(entry);
  }
  return [...chosen];
}

const width = ({ first, last }: DirectoryEntry): number => last.step - first.step;

function within({ fromStep, toStep, fromTime, toTime }: PointRange): (point: MetricPoint) => boolean {
  return ({ step, time }) =>
    !(step < (fromStep ?? step) || step > (toStep ?? step) || time < (fromTime ?? time) || time > (toTime ?? time));
}

function touches({ first, last, earliest, latest }: DirectoryEntry, range: PointRange): boolean {
  const { fromStep, toStep, fromTime, toTime } = range;
  return !(
    last.step < (fromStep ?? last.step) ||
    first.step > (toStep ?? first.step) ||
    latest < (fromTime ?? latest) ||
    earliest > (toTime ?? earliest)
  );
}

function reachesOut({ first, last, earliest, latest }: DirectoryEntry, range: PointRange): boolean {
  const { fromStep, toStep, fromTime, toTime } = range;
  return (
    first.step < (fromStep ?? first.step) ||
    last.step > (toStep ?? last.step) ||
    earliest < (fromTime ?? earliest) ||
    latest > (toTime ?? latest)
  );
}
