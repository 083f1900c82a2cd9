/**
 * Counts rows that repeat others, from a hash of each row: 8 bytes for each row and no table of seen rows. With 53-bit
 * hashes, a collision among three million different rows has a probability of one in two thousand.
 */
export class RepeatedRows {
  private readonly hashes: Float64Array;
  private readonly splitOf: Uint8Array;
  private filled = 0;

  /** @param splitOf index into `splitNames` of each row */
  constructor(splitOf: Uint8Array) {
    this.splitOf = splitOf;
    this.hashes = new Float64Array(splitOf.length);
  }

  /** Adds the hashes of the next rows, in row order: whole numbers below 2⁵³. */
  add(hashes: ArrayLike<number>): void {
    this.hashes.set(hashes, this.filled);
    this.filled += hashes.length;
  }

  finish(): { readonly duplicateShare: number; readonly leakedShare: number } {
    const of = (split: number): Float64Array => this.hashes.filter((_, row) => this.splitOf[row] === split).sort();
    const train = of(0);
    const test = of(2);
    let leaked = 0;
    for (const hash of test) if (contains(train, hash)) leaked += 1;
    const sorted = this.hashes.slice(0, this.filled).sort();
    let repeats = 0;
    for (let i = 1; i < sorted.length; i += 1) if (sorted[i] === sorted[i - 1]) repeats += 1;
    return {
      duplicateShare: sorted.length === 0 ? 0 : repeats / sorted.length,
      leakedShare: test.length === 0 ? 0 : leaked / test.length,
    };
  }
}

function contains(sorted: Float64Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
