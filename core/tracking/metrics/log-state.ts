import { ByteReader, ByteWriter } from "./bytes";
import type { LogBatch } from "./packed-points";
import { Receipts } from "./receipts";
import { Statistics } from "./statistics";

/** When a stretch of the log is long enough to be folded: by its batches, or by their packed size, which grows with the number of metrics. */
export interface SegmentLimits {
  readonly batches: number;
  readonly bytesPerMetric: number;
  readonly leastBytes: number;
  readonly mostBytes: number;
}

/** A stretch of the log that takes no more: batches past `from` up to `to`. */
export interface Segment {
  /** Counted from 1. */
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/**
 * What follows from a run's log up to a version. The same batches always lead to the same state, whoever applies them: which number a metric has and
 * where segments end is thereby agreed upon without a word.
 */
export class LogState {
  /** Batches applied. */
  version = 0;
  /** Segments that are closed. */
  closed = 0;
  /** Last versions of the latest closed segments; of older ones nobody asks any more. */
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

  /** @param bytes the batch's packed size; none while the log is young and lies in its head */
  apply(batch: LogBatch, bytes?: number): void {
    this.version += 1;
    for (const name of batch.names) this.statistics.addName(name);
    this.statistics.add(batch.points);
    for (const { writer, sequence } of batch.receipts) this.receipts.add(writer, sequence);
    if (bytes === undefined) return;
    this.openBytes += bytes;
    const { limits, openBytes } = this;
    const batches = this.version - (this.ends.at(-1) ?? 0);
    const enough = Math.max(limits.leastBytes, limits.bytesPerMetric * this.statistics.names.length);
    if (batches < limits.batches && openBytes < Math.min(enough, limits.mostBytes)) return;
    this.closed += 1;
    this.openBytes = 0;
    this.ends.push(this.version);
  }

  /** Closed segments that are not folded, the oldest first. `folded` of them are, up to that version. */
  unfolded(folded: number, foldedVersion: number): Segment[] {
    const oldest = this.closed - this.ends.length + 1;
    return this.ends
      .map((to, i) => ({ number: oldest + i, from: this.ends[i - 1] ?? foldedVersion, to }))
      .filter(({ number }) => number > folded)
      .map((segment) => (segment.number === folded + 1 ? { ...segment, from: foldedVersion } : segment));
  }

  /** Forgets where segments end that are folded; the last end is where the open one begins. */
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
