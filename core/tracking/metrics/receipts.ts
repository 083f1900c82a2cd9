import { BoundedMap } from "../../bounded-map";
import type { ByteReader, ByteWriter } from "./bytes";

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
