import type { MetricPoint } from "../metric-repository";
import type { BatchReceipt } from "../metric-store";
import { ByteReader, ByteWriter } from "./bytes";
import { type PointColumns, readPoints, readPointsOf, writePoints } from "./packed-points";

/** What one write adds to a run's log. */
export interface LogBatch {
  /** Metrics that occur for the first time; they take the next numbers. */
  readonly names: readonly string[];
  /** Calls whose last points these are. */
  readonly receipts: readonly BatchReceipt[];
  readonly points: PointColumns;
}

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

/** Of one metric, in the order of the log. */
export function unpackBatchOf(bytes: Uint8Array, id: number): MetricPoint[] {
  const from = new ByteReader(bytes);
  readFront(from);
  return readPointsOf(from, id);
}

function readFront(from: ByteReader): Omit<LogBatch, "points"> {
  const names = Array.from({ length: from.count() }, () => from.text());
  const receipts = Array.from({ length: from.count() }, () => ({ writer: from.text(), sequence: from.count() }));
  return { names, receipts };
}
