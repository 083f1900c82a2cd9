import { BoundedMap } from "../../core/bounded-map";
import type { ByteReader, ByteWriter } from "./packed-points";

/** Maximum number of writers with receipts. For each, gapless ranges of sequence numbers are stored. */
const maxWriters = 64;
const maxRanges = 32;

type Range = [first: number, last: number];

/** Forgetting old receipts is harmless: points that are stored again are recognised by their identity. */
export class Receipts {
  /** Ordered by last use, the latest at the end. */
  private readonly writers = new BoundedMap<string, Range[]>(maxWriters);

  has(writer: string, sequence: number): boolean {
    return this.writers.get(writer)?.some(([first, last]) => first <= sequence && sequence <= last) ?? false;
  }

  add(writer: string, sequence: number): void {
    const ranges = this.writers.get(writer) ?? [];
    this.writers.set(writer, joined(ranges, sequence));
  }

  write(out: ByteWriter): void {
    out.count(this.writers.size);
    for (const [writer, ranges] of this.writers) {
      out.text(writer);
      out.count(ranges.length);
      out.column(ranges.flat());
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
        Array.from({ length: count }, (_, i): Range => [ends[2 * i]!, ends[2 * i + 1]!]),
      );
    }
    return receipts;
  }
}

function joined(ranges: readonly Range[], sequence: number): Range[] {
  const all = [...ranges, [sequence, sequence] as Range].sort((a, b) => a[0] - b[0]);
  const result: Range[] = [];
  for (const [first, last] of all) {
    const before = result.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else result.push([first, last]);
  }
  return result.slice(-maxRanges);
}
