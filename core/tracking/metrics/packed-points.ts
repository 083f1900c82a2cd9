import type { MetricPoint } from "../metric-repository";
import { ByteReader, ByteWriter } from "./bytes";

/**
 * Points of several metrics as columns: the i-th series has the metric `ids[i]` and the next `counts[i]` points. A metric may occur in several series. Metrics
 * are numbered within their run, in the order in which they first occurred.
 */
export interface PointColumns {
  readonly ids: number[];
  readonly counts: number[];
  readonly steps: number[];
  /** Milliseconds since the epoch. */
  readonly times: number[];
  readonly values: number[];
}

export const noPoints = (): PointColumns => ({ ids: [], counts: [], steps: [], times: [], values: [] });

/** Some 10 bytes a point: 8 of the value, one or two of step and time. */
export function writePoints(out: ByteWriter, { ids, counts, steps, times, values }: PointColumns): void {
  out.count(ids.length);
  out.column(ids);
  out.column(counts);
  out.column(steps);
  out.column(times);
  out.floats(values);
}

export function readPoints(from: ByteReader): PointColumns {
  const series = from.count();
  const ids = from.column(series);
  const counts = from.column(series);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return { ids, counts, steps: from.column(total), times: from.column(total), values: from.floats(total) };
}

export function packPoints(points: PointColumns): Buffer {
  const out = new ByteWriter(64 + 12 * points.steps.length);
  writePoints(out, points);
  return out.bytes();
}

export const unpackPoints = (bytes: Uint8Array): PointColumns => readPoints(new ByteReader(bytes));

/** The points of one metric, in their order, without a look at the values of the others: most of what is packed. */
export function readPointsOf(from: ByteReader, wanted: number): MetricPoint[] {
  const series = from.count();
  const ids = from.column(series);
  const counts = from.column(series);
  const points: MetricPoint[] = [];
  if (!ids.includes(wanted)) return points;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const steps = from.column(total);
  const times = from.column(total);
  const valueAt = from.someFloats(total);
  eachSeries({ ids, counts }, (id, first, end) => {
    if (id !== wanted) return;
    for (let i = first; i < end; i += 1) points.push({ step: steps[i]!, value: valueAt(i), time: times[i]! });
  });
  return points;
}

/** Adds the points of `more` behind those of `all`. */
export function addPoints(all: PointColumns, more: PointColumns): void {
  for (const name of ["ids", "counts", "steps", "times", "values"] as const) {
    const [into, from] = [all[name], more[name]];
    for (let i = 0; i < from.length; i += 1) into.push(from[i]!);
  }
}

/** Each series' metric with the first of its points and the first behind them. */
export function eachSeries(
  { ids, counts }: Pick<PointColumns, "ids" | "counts">,
  visit: (id: number, from: number, to: number) => void,
): void {
  let from = 0;
  for (let i = 0; i < ids.length; i += 1) {
    const to = from + counts[i]!;
    visit(ids[i]!, from, to);
    from = to;
  }
}
