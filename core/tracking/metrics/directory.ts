import type { MetricPoint } from "../metric-store";
import { ByteReader, ByteWriter } from "./bytes";

/** A range of a metric's points in a block, with the values that a coarse view needs. */
export interface DirectoryEntry {
  /** The metric's number. */
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
  /** Times. */
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

/** Reads the entries of one metric. */
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
