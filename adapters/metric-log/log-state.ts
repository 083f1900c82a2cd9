import { BoundedMap } from "../../core/bounded-map";
import { ByteReader, ByteWriter } from "./bytes";
import type { LogBatch } from "./packed-points";
import { Statistics } from "./statistics";

/**
 * Limits at which a segment of the log is folded: the number of batches, or their packed size, which grows with the
 * number of metrics.
 */
export interface SegmentLimits {
  readonly batches: number;
  readonly bytesPerMetric: number;
  readonly minBytes: number;
  readonly maxBytes: number;
}

/** A closed segment of the log: batches after `from`, up to and including `to`. */
export interface Segment {
  /** Counted from 1. */
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The state that follows from a run's log up to a version. The same batches always give the same state. All processes
 * therefore agree on the metrics' numbers and on the ends of segments without communication.
 */
export class LogState {
  /** Number of applied batches. */
  version = 0;
  /** Number of closed segments. */
  closed = 0;
  /** Last versions of the latest closed segments. Older ones are no longer needed. */
  private ends: number[] = [];
  private openBytes = 0;

  private constructor(
    readonly limits: SegmentLimits,
    readonly statistics: Statistics,
    readonly receipts: Receipts,
  ) {}

  static empty(limits: SegmentLimits): LogState {
    return new LogState(limits, new Statistics(), new Receipts());
  }

  /** @param bytes the batch's packed size; none while the log is short and is stored in its head */
  apply(batch: LogBatch, bytes?: number): void {
    this.version += 1;
    for (const name of batch.names) this.statistics.addName(name);
    this.statistics.add(batch.points);
    for (const { writer, sequence } of batch.receipts) this.receipts.add(writer, sequence);
    if (bytes === undefined) return;
    this.openBytes += bytes;
    const { limits, openBytes } = this;
    const batches = this.version - (this.ends.at(-1) ?? 0);
    const enough = Math.max(limits.minBytes, limits.bytesPerMetric * this.statistics.names.length);
    if (batches < limits.batches && openBytes < Math.min(enough, limits.maxBytes)) return;
    this.closed += 1;
    this.openBytes = 0;
    this.ends.push(this.version);
  }

  /**
   * Returns the closed segments that are not folded, the oldest first. `folded` segments are folded, up to version
   * `foldedVersion`.
   */
  unfolded(folded: number, foldedVersion: number): Segment[] {
    const oldest = this.closed - this.ends.length + 1;
    return this.ends
      .map((to, i) => ({ number: oldest + i, from: this.ends[i - 1] ?? foldedVersion, to }))
      .filter(({ number }) => number > folded)
      .map((segment) => (segment.number === folded + 1 ? { ...segment, from: foldedVersion } : segment));
  }

  /** Drops the ends of folded segments. The last end stays, because the open segment starts there. */
  prune(folded: number): void {
    const oldest = this.closed - this.ends.length + 1;
    this.ends.splice(0, Math.max(0, Math.min(folded - oldest + 1, this.ends.length - 1)));
  }

  pack(): Buffer {
    const out = new ByteWriter(1024);
    out.count(this.version);
    out.count(this.closed);
    out.count(this.openBytes);
    out.count(this.ends.length);
    out.column(this.ends);
    this.receipts.write(out);
    this.statistics.write(out);
    return out.bytes();
  }

  static unpack(bytes: Uint8Array, limits: SegmentLimits): LogState {
    const from = new ByteReader(bytes);
    const [version, closed, openBytes] = [from.count(), from.count(), from.count()];
    const ends = from.column(from.count());
    const receipts = Receipts.read(from);
    const state = new LogState(limits, Statistics.read(from), receipts);
    state.version = version;
    state.closed = closed;
    state.openBytes = openBytes;
    state.ends = ends;
    return state;
  }
}

/** Maximum number of writers with receipts. For each, gapless ranges of sequence numbers are stored. */
const maxWriters = 64;
const maxStretches = 32;

type Stretch = [first: number, last: number];

/**
 * Records which batches of which writers are stored. Forgetting old receipts is harmless: a batch that is stored again
 * has the same points, which are recognised by their identity.
 */
export class Receipts {
  /** Ordered by last use, the latest at the end. */
  private readonly writers = new BoundedMap<string, Stretch[]>(maxWriters);

  has(writer: string, sequence: number): boolean {
    return this.writers.get(writer)?.some(([first, last]) => first <= sequence && sequence <= last) ?? false;
  }

  add(writer: string, sequence: number): void {
    const stretches = this.writers.get(writer) ?? [];
    this.writers.set(writer, joined(stretches, sequence));
  }

  write(out: ByteWriter): void {
    out.count(this.writers.size);
    for (const [writer, stretches] of this.writers) {
      out.text(writer);
      out.count(stretches.length);
      out.column(stretches.flat());
    }
  }

  static read(from: ByteReader): Receipts {
    const receipts = new Receipts();
    for (let left = from.count(); left > 0; left -= 1) {
      const writer = from.text();
      const count = from.count();
      const ends = from.column(2 * count);
      receipts.writers.set(
        writer,
        Array.from({ length: count }, (_, i): Stretch => [ends[2 * i]!, ends[2 * i + 1]!]),
      );
    }
    return receipts;
  }
}

function joined(stretches: readonly Stretch[], sequence: number): Stretch[] {
  const all = [...stretches, [sequence, sequence] as Stretch].sort((a, b) => a[0] - b[0]);
  const result: Stretch[] = [];
  for (const [first, last] of all) {
    const before = result.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else result.push([first, last]);
  }
  return result.slice(-maxStretches);
}
