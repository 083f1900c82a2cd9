import type { MetricPoint, PointRange } from "../metric-store";
import type { DirectoryEntry } from "./directory";
import { comparePoints, mergePoints, type PointIdentity } from "./points";

/** A metric's points as they are stored: some at hand, most of them in blocks of which only the directory is. */
export interface StoredSeries<Entry extends DirectoryEntry = DirectoryEntry> {
  /** In any order, perhaps twice. */
  readonly loose: readonly MetricPoint[];
  readonly entries: readonly Entry[];
  /** Points of some entries, each entry's in order. */
  openEntries(entries: readonly Entry[]): Promise<readonly (readonly MetricPoint[])[]>;
}

export const noSeries: StoredSeries = { loose: [], entries: [], openEntries: async () => [] };

/** The same without anything double: entries apart from each other and from every loose point, all within the range. */
export interface ApartSeries<Entry extends DirectoryEntry = DirectoryEntry> extends StoredSeries<Entry> {
  /** In order, each once. */
  readonly loose: readonly MetricPoint[];
  /** In order. */
  readonly entries: readonly Entry[];
  readonly total: number;
}

/** Rounds in which of two entries that meet only the wider is opened; past them both are. */
const patientRounds = 3;

/**
 * Opens what must be opened for nothing to be counted twice: entries that reach over the range's ends, and those that meet others, as points that came late or
 * twice make them. Where a run's points came in order that is next to nothing.
 */
export async function setApart<Entry extends DirectoryEntry>(
  series: StoredSeries<Entry>,
  identity: PointIdentity,
  range: PointRange = {},
): Promise<ApartSeries<Entry>> {
  const { fromTime, toTime, ...steps } = range;
  if (identity === "step" && (fromTime !== undefined || toTime !== undefined)) {
    // Which point of a step stands is known only where all of it are: then come times.
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

/** Everything, in order. */
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
