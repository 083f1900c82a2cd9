import type { BatchReceipt, MetricPoint, PointColumns } from "../../core/tracking/metric-store";

/**
 * The identity of a point. `step`: for a training run, where a step has one value and the later one counts. `point`:
 * for a logged run, where a client may send several points for a step, and only exact repetitions are the same point.
 */
export type PointIdentity = "step" | "point";

/** MLflow stores NaN as 0 with a flag, and orders by it (`SqlMetric.value`, `is_nan`). */
const ordinal = (value: number): number => (Number.isNaN(value) ? 0 : value);

/**
 * By step, then time, then value, as in MLflow's `_update_latest_metrics_if_necessary`. 0 only for identical points.
 */
export function comparePoints(a: MetricPoint, b: MetricPoint): number {
  if (a.step !== b.step) return a.step - b.step;
  if (a.time !== b.time) return a.time - b.time;
  return compareValues(a.value, b.value);
}

function compareValues(a: number, b: number): number {
  if (a === b) return 0;
  const [x, y] = [ordinal(a), ordinal(b)];
  if (x !== y) return x < y ? -1 : 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

/** Sorts its argument in place and removes duplicates. With identity `step`, the last point of each step is kept. */
export function mergePoints(points: MetricPoint[], identity: PointIdentity): MetricPoint[] {
  if (!isAscending(points)) points.sort(comparePoints);
  return points.filter((point, i) => {
    const next = points[i + 1];
    if (next === undefined) return true;
    return identity === "step" ? next.step !== point.step : comparePoints(point, next) !== 0;
  });
}

function isAscending(points: readonly MetricPoint[]): boolean {
  for (let i = 1; i < points.length; i += 1) if (comparePoints(points[i - 1]!, points[i]!) > 0) return false;
  return true;
}

/**
 * Points of several metrics: the i-th series has the metric `ids[i]` and the next `counts[i]` points. A metric may occur in several series. Metrics are
 * numbered within their run, in the order in which they first occurred.
 */
export interface NumberedPoints extends PointColumns {
  readonly ids: number[];
  readonly counts: number[];
  readonly steps: number[];
  readonly times: number[];
  readonly values: number[];
}

export const noPoints = (): NumberedPoints => ({ ids: [], counts: [], steps: [], times: [], values: [] });

/** One write's additions to a run's log. */
export interface LogBatch {
  /** Metrics that occur for the first time; they take the next numbers. */
  readonly names: readonly string[];
  /** Receipts of the requests whose last points are in this batch. */
  readonly receipts: readonly BatchReceipt[];
  readonly points: NumberedPoints;
}

/** Writes about 10 bytes for each point: 8 for the value, one or two for step and time. */
function writePoints(out: ByteWriter, { ids, counts, steps, times, values }: NumberedPoints): void {
  out.count(ids.length);
  out.column(ids);
  out.column(counts);
  out.column(steps);
  out.column(times);
  out.floats(values);
}

function readPoints(from: ByteReader): NumberedPoints {
  const series = from.count();
  const ids = from.column(series);
  const counts = from.column(series);
  const total = counts.reduce((sum, count) => sum + count, 0);
  return { ids, counts, steps: from.column(total), times: from.column(total), values: from.floats(total) };
}

export function packPoints(points: NumberedPoints): Buffer {
  const out = new ByteWriter(64 + 12 * points.steps.length);
  writePoints(out, points);
  return out.bytes();
}

export const unpackPoints = (bytes: Uint8Array): NumberedPoints => readPoints(new ByteReader(bytes));

export function packBatch({ names, receipts, points }: LogBatch): Buffer {
  const out = new ByteWriter(256 + 12 * points.steps.length);
  out.count(names.length);
  for (const name of names) out.text(name);
  out.count(receipts.length);
  for (const { writer, sequence } of receipts) {
    out.text(writer);
    out.count(sequence);
  }
  writePoints(out, points);
  return out.bytes();
}

export function unpackBatch(bytes: Uint8Array): LogBatch {
  const from = new ByteReader(bytes);
  return { ...readFront(from), points: readPoints(from) };
}

/** Reads one metric's points in order, without the values of all others, which are most of the bytes. */
export function unpackBatchOf(bytes: Uint8Array, wanted: number): MetricPoint[] {
  const from = new ByteReader(bytes);
  readFront(from);
  const series = from.count();
  const ids = from.column(series);
  const counts = from.column(series);
  if (!ids.includes(wanted)) return [];
  const total = counts.reduce((sum, count) => sum + count, 0);
  const [steps, times, valueAt] = [from.column(total), from.column(total), from.someFloats(total)];
  const points: MetricPoint[] = [];
  eachSeries({ ids, counts }, (id, first, end) => {
    if (id !== wanted) return;
    for (let i = first; i < end; i += 1) points.push({ step: steps[i]!, value: valueAt(i), time: times[i]! });
  });
  return points;
}

function readFront(from: ByteReader): Omit<LogBatch, "points"> {
  const names = Array.from({ length: from.count() }, () => from.text());
  const receipts = Array.from({ length: from.count() }, () => ({ writer: from.text(), sequence: from.count() }));
  return { names, receipts };
}

export function addPoints(all: NumberedPoints, more: NumberedPoints): void {
  for (const name of ["ids", "counts", "steps", "times", "values"] as const) appendTo(all[name], more[name]);
}

/** Appends values one by one: a spread of some 100,000 arguments would overflow the stack. */
export function appendTo(into: number[], from: readonly number[]): void {
  for (let i = 0; i < from.length; i += 1) into.push(from[i]!);
}

export function pointsAt({ steps, values, times }: PointColumns, from: number, to: number): MetricPoint[] {
  const points: MetricPoint[] = [];
  for (let i = from; i < to; i += 1) points.push({ step: steps[i]!, value: values[i]!, time: times[i]! });
  return points;
}

/** Visits each series: its metric, the index of its first point and the index after its last. */
export function eachSeries(
  { ids, counts }: Pick<NumberedPoints, "ids" | "counts">,
  visit: (id: number, from: number, to: number) => void,
): void {
  let from = 0;
  for (let i = 0; i < ids.length; i += 1) {
    const to = from + counts[i]!;
    visit(ids[i]!, from, to);
    from = to;
  }
}

/** Largest integer for which differences, and twice the differences, are exact. */
const widest = 2 ** 51;

export class ByteWriter {
  private buffer: Buffer;
  private at = 0;

  constructor(expectedBytes = 1024) {
    this.buffer = Buffer.allocUnsafe(expectedBytes);
  }

  get length(): number {
    return this.at;
  }

  /** Writes a whole number from 0 to 2^53 with seven bits a byte, the lowest first. */
  count(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x8000_0000) {
      this.buffer[this.at++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      this.buffer[this.at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.buffer[this.at++] = rest;
  }

  float(value: number): void {
    this.reserve(8);
    this.at = this.buffer.writeDoubleLE(value, this.at);
  }

  text(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.count(bytes);
    this.reserve(bytes);
    this.at += this.buffer.write(value, this.at, bytes, "utf8");
  }

  floats(values: readonly number[]): void {
    this.reserve(8 * values.length);
    for (let i = 0; i < values.length; i += 1) this.at = this.buffer.writeDoubleLE(values[i]!, this.at);
  }

  /**
   * Writes a column of numbers that are mostly whole and close to their neighbours. Equal numbers are stored once,
   * whole ones as differences (zigzag, as in Protocol Buffers), others unchanged. The reader must know the column's
   * length.
   */
  column(values: readonly number[]): void {
    if (values.length === 0) return;
    const kind = kindOf(values);
    this.count(kind);
    if (kind === columnKinds.floats) this.floats(values);
    else if (kind === columnKinds.constant) this.signed(values[0]!);
    else {
      let before = 0;
      for (let i = 0; i < values.length; i += 1) {
        this.signed(values[i]! - before);
        before = values[i]!;
      }
    }
  }

  bytes(): Buffer {
    return this.buffer.subarray(0, this.at);
  }

  private signed(value: number): void {
    this.count(value < 0 ? -value * 2 - 1 : value * 2);
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.buffer.length, this.at + bytes));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }
}

const columnKinds = { constant: 0, differences: 1, floats: 2 } as const;

function kindOf(values: readonly number[]): number {
  const first = values[0]!;
  let same = true;
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i]!;
    if (!Number.isInteger(value) || value > widest || value < -widest || Object.is(value, -0))
      return columnKinds.floats;
    if (value !== first) same = false;
  }
  return same ? columnKinds.constant : columnKinds.differences;
}

/** @throws RangeError if the bytes end too early */
export class ByteReader {
  private at = 0;
  private readonly buffer: Buffer;

  constructor(bytes: Uint8Array) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.at >= this.buffer.length;
  }

  count(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.buffer[this.at++];
      if (byte === undefined) throw new RangeError("packed metrics end too early");
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  float(): number {
    const value = this.buffer.readDoubleLE(this.at);
    this.at += 8;
    return value;
  }

  text(): string {
    const bytes = this.count();
    this.at += bytes;
    return this.buffer.toString("utf8", this.at - bytes, this.at);
  }

  floats(length: number): number[] {
    const values = new Array<number>(length);
    for (let i = 0; i < length; i += 1) values[i] = this.buffer.readDoubleLE(this.at + 8 * i);
    this.at += 8 * length;
    return values;
  }

  /** Skips `length` floats, and returns a function that reads any of them. */
  someFloats(length: number): (i: number) => number {
    const first = this.at;
    this.at += 8 * length;
    return (i) => this.buffer.readDoubleLE(first + 8 * i);
  }

  column(length: number): number[] {
    if (length === 0) return [];
    const kind = this.count();
    if (kind === columnKinds.floats) return this.floats(length);
    if (kind === columnKinds.constant) return new Array<number>(length).fill(this.signed());
    const values = new Array<number>(length);
    let before = 0;
    for (let i = 0; i < length; i += 1) {
      before += this.signed();
      values[i] = before;
    }
    return values;
  }

  private signed(): number {
    const value = this.count();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }
}
