/** Whole numbers up to this size are their own place in a table; others are in a map. */
const tableSize = 1 << 22;

/** Numbers the different values of labels' entities from 0. */
export class EntityNumbers {
  count = 0;
  private readonly others = new Map<unknown, number>();

  /** @param small table that another thread has filled */
  constructor(
    private readonly small = new Int32Array(new SharedArrayBuffer(tableSize * Int32Array.BYTES_PER_ELEMENT)).fill(-1),
  ) {}

  /** The table of all numbers, in shared memory; undefined if there are others than whole numbers up to its size. */
  get table(): Int32Array<SharedArrayBuffer> | undefined {
    return this.others.size === 0 ? this.small : undefined;
  }

  /** Returns the number of a value, a new one for a new value; -1 for a missing one, `null` or NaN. */
  add(value: unknown): number {
    if (value === null || Number.isNaN(value)) return -1;
    const known = this.of(value);
    if (known >= 0) return known;
    if (isSmall(value)) this.small[value] = this.count;
    else this.others.set(value, this.count);
    this.count += 1;
    return this.count - 1;
  }

  /** Returns the number of a value; -1 if no label has it. */
  of(value: unknown): number {
    return isSmall(value) ? this.small[value]! : (this.others.get(value) ?? -1);
  }

  /** Adds `count` values, and writes their numbers. */
  addAll(values: ArrayLike<unknown>, count: number, to: Int32Array): void {
    for (let row = 0; row < count; row += 1) to[row] = this.add(values[row]);
  }

  /** Writes the numbers of `count` values. */
  ofAll(values: ArrayLike<unknown>, count: number, to: Int32Array): void {
    for (let row = 0; row < count; row += 1) to[row] = this.of(values[row]);
  }
}

function isSmall(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < tableSize && Number.isInteger(value);
}
