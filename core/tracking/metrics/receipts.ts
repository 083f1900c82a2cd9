import { BoundedMap } from "../../bounded-map";
import type { ByteReader, ByteWriter } from "./bytes";

/** Writers of whom is remembered what they have sent; of each, stretches of sequence numbers without a gap. */
const mostWriters = 64;
const mostStretches = 32;

type Stretch = [first: number, last: number];

/**
 * Which batches of which writers are stored. What is forgotten past the bounds does no harm: a batch that then is stored again has the same points, and points
 * are told apart by what they are.
 */
export class Receipts {
  /** By last use, the latest at the end. */
  private readonly writers = new BoundedMap<string, Stretch[]>(mostWriters);

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
  return result.slice(-mostStretches);
}
