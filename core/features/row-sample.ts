/** Numbers of one row, by column; `null` is missing. */
type Numbers = readonly (number | null)[];
/** The sampled rows as JSON: each row's hash and numbers. */
export type RowSampleState = readonly (readonly [number, Numbers])[];

/** Rows of a sample. The rank of a quantile has a standard error of at most 0.8 %. */
const sampledRows = 4_096;

/**
 * Samples the rows whose number has the smallest hashes. The sample depends on the rows alone, and not on the parts in
 * which they are read.
 */
export class RowSample {
  private readonly capacity: number;
  private rows: (readonly [number, Numbers])[] = [];
  private below = 2 ** 32;

  constructor(capacity = sampledRows) {
    this.capacity = capacity;
  }

  /** @param numbersOf is called if the row may be part of the sample */
  add(row: number, numbersOf: () => Numbers): void {
    const hash = rowHash(row);
    if (hash >= this.below) return;
    this.rows.push([hash, numbersOf()]);
    if (this.rows.length >= 2 * this.capacity) this.prune();
  }

  merge(state: RowSampleState): void {
    this.rows.push(...state);
    this.prune();
  }

  state(): RowSampleState {
    this.prune();
    return this.rows;
  }

  sorted(column: number): Float64Array {
    return Float64Array.from(this.state().flatMap(([, numbers]) => numbers[column] ?? [])).sort();
  }

  private prune(): void {
    this.rows.sort(([a], [b]) => a - b);
    this.rows = this.rows.slice(0, this.capacity);
    if (this.rows.length === this.capacity) this.below = this.rows.at(-1)![0];
  }
}

/** Returns a whole number below 2^32 that looks random: the finalizer of MurmurHash3, which is one-to-one below 2^32. */
export function rowHash(row: number): number {
  let mixed = row | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
