import type { MetricPoint, MetricSummary } from "../../core/tracking/metric-store";
import { type CompactionSizes, compactionSizes } from "./compaction";
import {
  addPoints,
  ByteReader,
  ByteWriter,
  comparePoints,
  eachSeries,
  type LogBatch,
  type NumberedPoints,
  noPoints,
  packPoints,
  pointsAt,
  unpackBatch,
  unpackBatchOf,
  unpackPoints,
} from "./packed-points";
import { Receipts } from "./receipts";

export interface LogLimits {
  /** A segment of the log closes at this number of batches, or at a size that grows with the number of metrics. */
  readonly segment: {
    readonly batches: number;
    readonly bytesPerMetric: number;
    readonly minBytes: number;
    readonly maxBytes: number;
  };
  readonly compaction: CompactionSizes;
  /** The size up to which the whole log is in its head. */
  readonly inlineBytes: number;
  /** The number of batches after which a state is stored, if they are larger than twice the state. */
  readonly batchesPerState: number;
}

export const logLimits: LogLimits = {
  // About 400 points per metric and per item of the table. A reader reads at most as much that is not compacted.
  segment: { batches: 512, bytesPerMetric: 4 * 1024, minBytes: 128 * 1024, maxBytes: 1024 * 1024 },
  compaction: compactionSizes,
  inlineBytes: 4 * 1024,
  batchesPerState: 32,
};

/** The stored data of a run's log other than its batches (docs/access-patterns.md, "Metrics"). */
export interface LogHead {
  /** The version of `state`. It is never past the log's end. */
  readonly version: number;
  /** Whether the log continues in separate batches. Otherwise the head contains the whole log. */
  readonly batched: boolean;
  /** The packed part of a `LogState`. */
  readonly state: Uint8Array;
  /** The packed points of the versions before the log had batches, until they are compacted. */
  readonly inline?: Uint8Array | undefined;
  /** The last version whose points are compacted; 0 if none are. */
  readonly compacted: number;
}

export interface LoggedBatch {
  readonly version: number;
  readonly data: Uint8Array;
  readonly by: string;
}

/** A closed segment of the log: the batches after `from`, up to and including `to`, which is also its name. */
export interface Segment {
  readonly from: number;
  readonly to: number;
}

/** The bytes of a head in addition to the points: versions, receipts, attribute names. */
const headBytes = 256;
const bytesPerMetric = 48;
const bytesPerPoint = 12;

/**
 * The state that follows from a run's log up to a version, and the points that are not compacted. Equal batches give
 * equal states, so processes agree on metrics' numbers and ends of segments. Does no I/O.
 */
export class LogState {
  private readonly statistics: Statistics;
  private readonly receipts: Receipts;
  version: number;
  batched: boolean;
  private compacted: number;
  /** The last versions of closed segments that are not compacted. */
  private ends: number[] = [];
  private openBytes = 0;
  /** The points of the head, until they are compacted. The versions of these points are unknown. */
  private inline: NumberedPoints;
  /** The packed batches after `tailFrom`. */
  private tail: LoggedBatch[] = [];
  private tailFrom: number;
  /** The version and size of the stored state, and the size of the later batches. */
  private storedVersion: number;
  private storedBytes: number;
  private bytesSinceStored = 0;

  constructor(
    head: LogHead | undefined,
    private readonly limits: LogLimits,
  ) {
    this.version = head?.version ?? 0;
    this.batched = head?.batched ?? false;
    this.compacted = head?.compacted ?? 0;
    this.inline = head?.inline ? unpackPoints(head.inline) : noPoints();
    this.tailFrom = this.version;
    this.storedVersion = this.version;
    this.storedBytes = head?.state.length ?? 0;
    const from = head && new ByteReader(head.state);
    if (from) {
      this.openBytes = from.count();
      // The head may be of another process, which compacted more than the state knows.
      this.ends = from.column(from.count()).filter((end) => end > this.compacted);
    }
    this.receipts = from ? Receipts.read(from) : new Receipts();
    this.statistics = from ? Statistics.read(from) : new Statistics();
  }

  get metrics(): number {
    return this.statistics.names.length;
  }

  idOf(metric: string): number | undefined {
    return this.statistics.idOf(metric);
  }

  summaries() {
    return this.statistics.summaries();
  }

  isStored(writer: string, sequence: number): boolean {
    return this.receipts.has(writer, sequence);
  }

  get memoryBytes(): number {
    const tail = this.tail.reduce((sum, { data }) => sum + data.length + 100, 0);
    return tail + 300 * this.metrics + 40 * this.inline.steps.length;
  }

  private add({ names, points, receipts }: LogBatch): void {
    this.version += 1;
    for (const name of names) this.statistics.addName(name);
    this.statistics.add(points);
    for (const { writer, sequence } of receipts) this.receipts.add(writer, sequence);
  }

  apply(batch: LoggedBatch, unpacked: LogBatch = unpackBatch(batch.data)): void {
    this.add(unpacked);
    this.tail.push(batch);
    this.bytesSinceStored += batch.data.length;
    this.openBytes += batch.data.length;
    const { segment } = this.limits;
    const size = Math.min(Math.max(segment.minBytes, segment.bytesPerMetric * this.metrics), segment.maxBytes);
    const batches = this.version - (this.ends.at(-1) ?? this.compacted);
    if (batches < segment.batches && this.openBytes < size) return;
    this.openBytes = 0;
    this.ends.push(this.version);
  }

  fitsInline({ names, points }: LogBatch): boolean {
    if (this.batched) return false;
    const bytesOfNames = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0);
    const metrics = bytesPerMetric * (this.metrics + names.length) + this.storedBytes + bytesOfNames;
    const bytes = headBytes + metrics + bytesPerPoint * (this.inline.steps.length + points.steps.length);
    return bytes <= this.limits.inlineBytes;
  }

  applyInline(batch: LogBatch): void {
    this.add(batch);
    addPoints(this.inline, batch.points);
  }

  /** Returns the head of a log without batches, which counts as stored. @param batched whether batches follow */
  takeHead(batched: boolean): LogHead & { readonly inline: Uint8Array } {
    const state = this.pack();
    this.noteStored(state);
    this.tailFrom = this.version;
    return { version: this.version, batched, state, inline: packPoints(this.inline), compacted: 0 };
  }

  pack(): Buffer {
    const out = new ByteWriter(1024);
    out.count(this.openBytes);
    out.count(this.ends.length);
    out.column(this.ends);
    this.receipts.write(out);
    this.statistics.write(out);
    return out.bytes();
  }

  noteStored(state: Uint8Array): void {
    this.storedVersion = this.version;
    this.storedBytes = state.length;
    this.bytesSinceStored = 0;
  }

  /** Returns whether a segment has to be compacted, or a new reader would have to read many batches. */
  get needsCompaction(): boolean {
    if (!this.batched) return false;
    const isOld = this.version - this.storedVersion >= this.limits.batchesPerState;
    return this.ends.length > 0 || (isOld && this.bytesSinceStored >= 2 * this.storedBytes);
  }

  get segments(): readonly Segment[] {
    return this.ends.map((to, i) => ({ from: this.ends[i - 1] ?? this.compacted, to }));
  }

  noteCompacted(version: number): void {
    if (version <= this.compacted || version > this.version) return;
    this.compacted = version;
    this.ends = this.ends.filter((end) => end > version);
    this.inline = noPoints();
    this.tail = this.tail.filter((batch) => batch.version > version);
    this.tailFrom = Math.max(this.tailFrom, version);
  }

  get lastCompacted(): number {
    return this.compacted;
  }

  /**
   * Returns the range of versions whose batches are neither compacted nor in memory, if it reaches beyond `after`: after
   * the first, up to the second. The versions of points in the head have no batches.
   */
  missingTail(after: number): readonly [after: number, to: number] | undefined {
    if (!this.batched || this.tailFrom <= Math.max(after, this.compacted)) return undefined;
    return [this.compacted, this.tailFrom];
  }

  addMissingTail(batches: readonly LoggedBatch[]): void {
    this.tail.unshift(...batches);
    this.tailFrom = this.compacted;
  }

  /** Returns whether no batch after a version is compacted. */
  isInTail(after: number): boolean {
    return this.batched && after >= this.compacted;
  }

  /** Returns the points of a segment. The state has to have all batches that are not compacted. */
  pointsIn({ from, to }: Segment): NumberedPoints[] {
    const batches = this.tail.filter(({ version }) => version > from && version <= to);
    return [...(from === 0 ? [this.inline] : []), ...batches.map(({ data }) => unpackBatch(data).points)];
  }

  /** Returns a metric's points after a version that are not compacted, and all of the head; duplicates are possible. */
  pointsOf(id: number, after: number): MetricPoint[] {
    const points: MetricPoint[] = [];
    eachSeries(this.inline, (one, from, to) => {
      if (one === id) points.push(...pointsAt(this.inline, from, to));
    });
    for (const { version, data } of this.tail) {
      if (version > after) for (const point of unpackBatchOf(data, id)) points.push(point);
    }
    return points;
  }
}

/** Per metric, by its number: name, number of points, latest, minimum and maximum. */
class Statistics {
  readonly names: string[] = [];
  private readonly ids = new Map<string, number>();
  private readonly counts: number[] = [];
  private readonly steps: number[] = [];
  private readonly times: number[] = [];
  private readonly lasts: number[] = [];
  private readonly mins: number[] = [];
  private readonly maxs: number[] = [];

  idOf(name: string): number | undefined {
    return this.ids.get(name);
  }

  addName(name: string): void {
    this.ids.set(name, this.names.length);
    this.names.push(name);
    this.counts.push(0);
    this.steps.push(0);
    this.times.push(0);
    this.lasts.push(0);
    this.mins.push(Number.NaN);
    this.maxs.push(Number.NaN);
  }

  add(points: NumberedPoints): void {
    const { steps, times, values } = points;
    eachSeries(points, (id, from, to) => {
      for (let i = from; i < to; i += 1) {
        const value = values[i]!;
        const first = this.counts[id] === 0;
        if (first || this.isLater(id, steps[i]!, times[i]!, value)) {
          this.steps[id] = steps[i]!;
          this.times[id] = times[i]!;
          this.lasts[id] = value;
        }
        this.counts[id]! += 1;
        // Comparisons with NaN are false.
        if (!(value >= this.mins[id]!) && !Number.isNaN(value)) this.mins[id] = value;
        if (!(value <= this.maxs[id]!) && !Number.isNaN(value)) this.maxs[id] = value;
      }
    });
  }

  private isLater(id: number, step: number, time: number, value: number): boolean {
    if (step !== this.steps[id]!) return step > this.steps[id]!;
    return comparePoints({ step, time, value }, { step, time: this.times[id]!, value: this.lasts[id]! }) > 0;
  }

  /** Lists summaries by name. Metrics without points are omitted. */
  summaries(): MetricSummary[] {
    return this.names
      .map((metric, id) => ({ metric, id }))
      .filter(({ id }) => this.counts[id]! > 0)
      .sort((a, b) => (a.metric < b.metric ? -1 : 1))
      .map(({ metric, id }) => ({
        metric,
        last: this.lasts[id]!,
        lastStep: this.steps[id]!,
        lastTime: this.times[id]!,
        min: this.mins[id]!,
        max: this.maxs[id]!,
      }));
  }

  /** Names of a run often share a prefix, usually with the previous name. */
  write(out: ByteWriter): void {
    out.count(this.names.length);
    this.names.forEach((name, i) => {
      const shared = i === 0 ? 0 : commonLength(this.names[i - 1]!, name);
      out.count(shared);
      out.text(name.slice(shared));
    });
    for (const column of [this.counts, this.steps, this.times]) out.column(column);
    for (const column of [this.lasts, this.mins, this.maxs]) out.floats(column);
  }

  static read(from: ByteReader): Statistics {
    const all = new Statistics();
    const length = from.count();
    for (let i = 0; i < length; i += 1) {
      const shared = from.count();
      all.addName((all.names.at(-1) ?? "").slice(0, shared) + from.text());
    }
    for (const column of [all.counts, all.steps, all.times]) replace(column, from.column(length));
    for (const column of [all.lasts, all.mins, all.maxs]) replace(column, from.floats(length));
    return all;
  }
}

function replace(column: number[], values: readonly number[]): void {
  for (let i = 0; i < values.length; i += 1) column[i] = values[i]!;
}

/** In UTF-16 units. Never splits a surrogate pair, whose halves cannot be written alone. */
function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  const unit = a.charCodeAt(length - 1);
  return length > 0 && unit >= 0xd800 && unit <= 0xdbff ? length - 1 : length;
}
