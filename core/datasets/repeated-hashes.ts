import type { ObjectStore } from "../ports";
import type { ContentReference } from "../shapes";
import { splitNames } from "./shapes";

/*
 * Rows that repeat others, in a version whose rows are read by several processes. Each process stores the 64-bit hashes
 * of its rows, ascending, in files by the first bits of the hash. Equal rows are in files of the same range, so that the
 * ranges are compared one at a time. Of n different rows, two have the same hash with a probability of n² / 2⁶⁵: 0.03 %
 * for a hundred million.
 */

/** Rows whose hashes are compared at a time: 8 bytes each, twice. */
const rangeRows = 2 ** 24;

/** The files of one process, by range. */
export interface HashFiles {
  readonly ranges: readonly { readonly content: ContentReference; readonly rows: readonly number[] }[];
}

/** Returns the number of ranges, a power of two. */
function rangesOf(rows: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(rows / rangeRows)));
}

export class HashCollector {
  private readonly ranges: number;
  private readonly hashes = splitNames.map(() => new BigUint64Array(1_024));
  private readonly filled = splitNames.map(() => 0);

  /** @param totalRows rows of the whole version */
  constructor(totalRows: number) {
    this.ranges = rangesOf(totalRows);
  }

  /** @param split index into `splitNames` */
  add(hash: bigint, split: number): void {
    const count = this.filled[split]!;
    let own = this.hashes[split]!;
    if (count === own.length) {
      const grown = new BigUint64Array(count * 2);
      grown.set(own);
      this.hashes[split] = own = grown;
    }
    own[count] = hash;
    this.filled[split] = count + 1;
  }

  async store(objects: Pick<ObjectStore, "putContent">): Promise<HashFiles> {
    const sorted = this.hashes.map((own, split) => own.subarray(0, this.filled[split]!).sort());
    const starts = sorted.map(() => 0);
    const ranges: HashFiles["ranges"][number][] = [];
    const width = 2n ** 64n / BigInt(this.ranges);
    for (let range = 1; range <= this.ranges; range += 1) {
      const end = width * BigInt(range);
      const parts = sorted.map((own, split) => {
        const from = starts[split]!;
        const to = range === this.ranges ? own.length : lowerBound(own, end);
        starts[split] = to;
        return own.subarray(from, to);
      });
      const bytes = new Uint8Array(8 * parts.reduce((sum, part) => sum + part.length, 0));
      let at = 0;
      for (const part of parts) {
        bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
        at += part.byteLength;
      }
      ranges.push({ content: await objects.putContent(bytes), rows: parts.map((part) => part.length) });
    }
    return { ranges };
  }
}

export interface HashComparison {
  readonly rows: number;
  /** Rows that equal an earlier one. */
  readonly repeats: number;
  readonly testRows: number;
  /** Test rows that equal a training row. */
  readonly leaked: number;
  /** Hashes that are in more than one split. */
  readonly crossing: number;
  /** Some of the hashes that repeat, each with the place of its second row. */
  readonly examples: readonly RepeatedHash[];
}

export interface RepeatedHash {
  readonly hash: bigint;
  /** Index of the process whose rows have the second row, if the processes read the rows in turn. */
  readonly file: number;
  /** Number of the row among the process's rows with this hash, from 1. */
  readonly place: number;
}

/** Compares the rows of all processes. Holds the rows of one range. */
export async function compareHashes(
  objects: Pick<ObjectStore, "getContent">,
  files: readonly HashFiles[],
  maxExamples = 0,
): Promise<HashComparison> {
  const found = { rows: 0, repeats: 0, testRows: 0, leaked: 0, crossing: 0, examples: [] as RepeatedHash[] };
  for (let range = 0; range < (files[0]?.ranges.length ?? 0); range += 1) {
    const own = files.map(({ ranges }) => ranges[range]!);
    const parts: BigUint64Array[][] = [];
    const bySplit = splitNames.map(
      (_, split) => new BigUint64Array(own.reduce((sum, { rows }) => sum + rows[split]!, 0)),
    );
    const filled = bySplit.map(() => 0);
    for (const { content, rows } of own) {
      const { buffer, byteOffset, byteLength } = await objects.getContent(content.sha256);
      // The bytes may begin anywhere in their buffer.
      const hashes = new BigUint64Array(buffer.slice(byteOffset, byteOffset + byteLength));
      let at = 0;
      const split: BigUint64Array[] = [];
      for (const [index, count] of rows.entries()) {
        const part = hashes.subarray(at, at + count);
        bySplit[index]!.set(part, filled[index]!);
        filled[index]! += count;
        at += count;
        split.push(part);
      }
      parts.push(split);
    }
    for (const hashes of bySplit) hashes.sort();
    const repeated: bigint[] = [];
    compareRange(bySplit, found, (hash) => {
      if (found.examples.length + repeated.length < maxExamples) repeated.push(hash);
    });
    found.examples.push(...repeated.map((hash) => secondRow(hash, parts)));
  }
  return found;
}

/** @param parts ascending hashes of each process, by split */
function secondRow(hash: bigint, parts: readonly (readonly BigUint64Array[])[]): RepeatedHash {
  let place = 2;
  for (const [file, bySplit] of parts.entries()) {
    const rows = bySplit.reduce((sum, own) => sum + lowerBound(own, hash + 1n) - lowerBound(own, hash), 0);
    if (rows >= place) return { hash, file, place };
    place -= rows;
  }
  throw new Error(`The hash ${hash} does not repeat.`);
}

type Counts = { -readonly [Key in Exclude<keyof HashComparison, "examples">]: HashComparison[Key] };

/** Walks through the ascending hashes of all splits at the same time. */
function compareRange(bySplit: readonly BigUint64Array[], found: Counts, onRepeat: (hash: bigint) => void): void {
  const at = bySplit.map(() => 0);
  for (;;) {
    let least: bigint | undefined;
    for (const [split, hashes] of bySplit.entries()) {
      const hash = hashes[at[split]!];
      if (hash !== undefined && (least === undefined || hash < least)) least = hash;
    }
    if (least === undefined) return;
    let [equal, splits, training] = [0, 0, 0];
    for (const [split, hashes] of bySplit.entries()) {
      const from = at[split]!;
      let to = from;
      while (hashes[to] === least) to += 1;
      at[split] = to;
      if (to === from) continue;
      equal += to - from;
      splits += 1;
      if (splitNames[split] === "train") training = to - from;
      if (splitNames[split] === "test") {
        found.testRows += to - from;
        if (training > 0) found.leaked += to - from;
      }
    }
    found.rows += equal;
    found.repeats += equal - 1;
    if (equal > 1) onRepeat(least);
    if (splits > 1) found.crossing += 1;
  }
}

function lowerBound(sorted: BigUint64Array, value: bigint): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
