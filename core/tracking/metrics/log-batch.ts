import type { BatchReceipt } from "../metric-store";
import { ByteReader, ByteWriter } from "./bytes";
import { type PointColumns, readPoints, writePoints } from "./packed-points";

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
  const names = Array.from({ length: from.count() }, () => from.text());
  const receipts = Array.from({ length: from.count() }, () => ({ writer: from.text(), sequence: from.count() }));
  return { names, receipts, points: readPoints(from) };
}
