import type { MetricPoint, PointRange } from "../../core/tracking/metric-store";
import { ByteReader, ByteWriter, comparePoints, mergePoints, type PointIdentity } from "./packed-points";

/** A range of a metric's points in a block, with the values that a coarse view needs. */
export interface DirectoryEntry {
  readonly id: number;
  /** The block's number within its group and segment. */
  readonly block: number;
  readonly count: number;
  /** Whether several points have the same step. */
  readonly repeats: boolean;
  /** By step, time and value. */
  readonly first: MetricPoint;
  readonly last: MetricPoint;
  /** By value; NaN only if all are NaN. */
  readonly least: MetricPoint;
  readonly greatest: MetricPoint;
  /** The earliest and the latest time of the points. */
  readonly earliest: number;
  readonly latest: number;
}

export function packDirectory(entries: readonly DirectoryEntry[]): Buffer {
  const out = new ByteWriter(64 + 64 * entries.length);
  const points = entries.flatMap(({ first, last, least, greatest }) => [first, last, least, greatest]);
  out.count(entries.length);
  out.column(entries.map(({ id }) => id));
  out.column(entries.map(({ block }) => block));
  out.column(entries.map(({ count }) => count));
  out.column(entries.map(({ repeats }) => Number(repeats)));
  out.column(entries.flatMap(({ earliest, latest }) => [earliest, latest]));
  out.column(points.map(({ step }) => step));
  out.column(points.map(({ time }) => time));
  out.floats(points.map(({ value }) => value));
  return out.bytes();
}

export function unpackDirectory(bytes: Uint8Array, wanted: number): DirectoryEntry[] {
  const from = new ByteReader(bytes);
  const length = from.count();
  const ids = from.column(length);
  const blocks = from.column(length);
  const counts = from.column(length);
  const repeats = from.column(length);
  const ends = from.column(2 * length);
  const [steps, times, values] = [from.column(4 * length), from.column(4 * length), from.floats(4 * length)];
  const point = (at: number): MetricPoint => ({ step: steps[at]!, time: times[at]!, value: values[at]! });
  const entries: DirectoryEntry[] = [];
  for (let i = 0; i < length; i += 1) {
    if (ids[i] !== wanted) continue;
    entries.push({
      id: wanted,
      block: blocks[i]!,
      count: counts[i]!,
      repeats: repeats[i] === 1,
      first: point(4 * i),
      last: point(4 * i + 1),
      least: point(4 * i + 2),
      greatest: point(4 * i + 3),
      earliest: ends[2 * i]!,
      latest: ends[2 * i + 1]!,
    });
  }
  return entries;
}

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
interface ApartSeries<Entry extends DirectoryEntry = DirectoryEntry> extends StoredSeries<Entry> {
  readonly loose: readonly MetricPoint[];
  readonly entries: readonly Entry[];
  readonly total: number;
}

/** Number of rounds in which only the wider of two overlapping entries is read. Later rounds read both. */
const widerOnlyRounds = 3;

/**
 * Reads the entries that would otherwise be counted twice: those that reach over the range's ends, and those that
 * overlap others because points arrived late or twice. If a run's points arrived in order, almost nothing is read.
 */
export async function setApart<Entry extends DirectoryEntry>(
  series: StoredSeries<Entry>,
  identity: PointIdentity,
  range: PointRange = {},
): Promise<ApartSeries<Entry>> {
  let loose = mergePoints(series.loose.filter(within(range)), identity);
  let closed = series.entries.filter((entry) => touches(entry, range)).sort((a, b) => comparePoints(a.first, b.first));
  for (let round = 0; ; round += 1) {
    const opening =
      round === 0
        ? closed.filter((entry) => reachesOut(entry, range) || (identity === "step" && entry.repeats))
        : overlapping(closed, loose, identity, round <= widerOnlyRounds);
    if (round > 0 && opening.length === 0) break;
    const chosen = new Set(opening);
    const opened = await series.openEntries(opening);
    closed = closed.filter((entry) => !chosen.has(entry));
    loose = mergePoints([...loose, ...opened.flat().filter(within(range))], identity);
  }
  const total = closed.reduce((sum, { count }) => sum + count, loose.length);
  return { loose, entries: closed, total, openEntries: series.openEntries };
}

export async function openAll(series: StoredSeries, identity: PointIdentity): Promise<MetricPoint[]> {
  const opened = await series.openEntries(series.entries);
  return mergePoints([...series.loose, ...opened.flat()], identity);
}

/**
 * Returns the entries to read next: those that contain a loose point, and of two overlapping ones the wider or both.
 */
function overlapping<Entry extends DirectoryEntry>(
  entries: readonly Entry[],
  loose: readonly MetricPoint[],
  identity: PointIdentity,
  widerOnly: boolean,
): Entry[] {
  const order = identity === "step" ? (a: MetricPoint, b: MetricPoint) => a.step - b.step : comparePoints;
  const chosen = new Set<Entry>();
  let before: Entry | undefined;
  for (const entry of entries) {
    if (before && order(entry.first, before.last) <= 0) {
      const wider = width(entry) > width(before) ? entry : before;
      chosen.add(wider);
      if (!widerOnly) chosen.add(entry).add(before);
      const other = wider === entry ? before : entry;
      before = widerOnly ? other : order(entry.last, before.last) > 0 ? entry : before;
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

function within({ fromStep, toStep }: PointRange): (point: MetricPoint) => boolean {
  return ({ step }) => !(step < (fromStep ?? step) || step > (toStep ?? step));
}

function touches({ first, last }: DirectoryEntry, { fromStep, toStep }: PointRange): boolean {
  return !(last.step < (fromStep ?? last.step) || first.step > (toStep ?? first.step));
}

function reachesOut({ first, last }: DirectoryEntry, { fromStep, toStep }: PointRange): boolean {
  return first.step < (fromStep ?? first.step) || last.step > (toStep ?? last.step);
}
