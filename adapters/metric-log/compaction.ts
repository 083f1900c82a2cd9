import type { MetricPoint } from "../../core/tracking/metric-store";
import { addPoints, comparePoints, eachSeries, type NumberedPoints, noPoints, packPoints } from "./packed-points";
import { type DirectoryEntry, packDirectory } from "./series";

/** Number of metrics that share a directory. Reading one metric also reads the directory entries of the others. */
const metricsPerGroup = 8;
export const groupOf = (id: number): number => Math.floor(id / metricsPerGroup);

export interface CompactionSizes {
  /** Number of points of a directory entry. An entry has their summary without reading them. */
  readonly entryPoints: number;
  readonly blockPoints: number;
}

export const compactionSizes: CompactionSizes = { entryPoints: 512, blockPoints: 2_048 };

export interface CompactedGroup {
  readonly group: number;
  /** Packed points, ordered by metric, then like points; see `unpackPoints`. */
  readonly blocks: readonly Buffer[];
  /** The places of the points; see `unpackDirectory`. */
  readonly directory: Buffer;
}

/** Orders a segment's points by metric. Pure: concurrent writers of one segment write the same bytes. */
export function* compactSegment(
  batches: readonly NumberedPoints[],
  { entryPoints, blockPoints }: CompactionSizes = compactionSizes,
): Generator<CompactedGroup> {
  const all = noPoints();
  for (const batch of batches) addPoints(all, batch);
  const series = new Map<number, [from: number, to: number][]>();
  eachSeries(all, (id, from, to) => {
    const ranges = series.get(id);
    if (ranges) ranges.push([from, to]);
    else series.set(id, [[from, to]]);
  });
  const ids = [...series.keys()].sort((a, b) => a - b);
  for (let first = 0; first < ids.length; ) {
    const group = groupOf(ids[first]!);
    const blocks: NumberedPoints[] = [noPoints()];
    const entries: DirectoryEntry[] = [];
    for (; first < ids.length && groupOf(ids[first]!) === group; first += 1) {
      const id = ids[first]!;
      const points = orderedOnce(all, series.get(id)!);
      for (let from = 0; from < points.length; from += entryPoints) {
        if (blocks.at(-1)!.steps.length >= blockPoints) blocks.push(noPoints());
        const some = points.slice(from, from + entryPoints);
        const block = blocks.at(-1)!;
        addPoints(block, columnsOf(id, some));
        entries.push(entryOf(id, blocks.length - 1, some));
      }
    }
    yield { group, blocks: blocks.map(packPoints), directory: packDirectory(entries) };
  }
}

/** Removes exact repetitions. Points of one step are kept: which of them counts depends on the run. */
function orderedOnce(
  { steps, times, values }: NumberedPoints,
  parts: readonly (readonly [number, number])[],
): MetricPoint[] {
  const points: MetricPoint[] = [];
  let ordered = true;
  for (const [from, to] of parts) {
    for (let i = from; i < to; i += 1) {
      const point = { step: steps[i]!, time: times[i]!, value: values[i]! };
      if (ordered && points.length > 0 && comparePoints(points.at(-1)!, point) >= 0) ordered = false;
      points.push(point);
    }
  }
  if (ordered) return points;
  points.sort(comparePoints);
  return points.filter((point, i) => i === 0 || comparePoints(points[i - 1]!, point) !== 0);
}

function columnsOf(id: number, points: readonly MetricPoint[]): NumberedPoints {
  return {
    ids: [id],
    counts: [points.length],
    steps: points.map(({ step }) => step),
    times: points.map(({ time }) => time),
    values: points.map(({ value }) => value),
  };
}

function entryOf(id: number, block: number, points: readonly MetricPoint[]): DirectoryEntry {
  const [first, last] = [points[0]!, points.at(-1)!];
  let [least, greatest, earliest, latest] = [first, first, first.time, first.time];
  let repeats = false;
  for (let i = 1; i < points.length; i += 1) {
    const point = points[i]!;
    if (point.step === points[i - 1]!.step) repeats = true;
    if (point.value < least.value || Number.isNaN(least.value)) least = point;
    if (point.value > greatest.value || Number.isNaN(greatest.value)) greatest = point;
    if (point.time < earliest) earliest = point.time;
    if (point.time > latest) latest = point.time;
  }
  return { id, block, count: points.length, repeats, first, last, least, greatest, earliest, latest };
}
