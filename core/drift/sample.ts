import type { ColumnSchema, DatasetManifest } from "../datasets/shapes";
import { categoryAt, type RowSource } from "../features/values";

/** Values of a column: sorted numbers, or rows by category. */
export type ColumnSample = { readonly rows: number; readonly missing: number } & (
  | { readonly kind: "number"; readonly values: Float64Array }
  | { readonly kind: "category"; readonly counts: ReadonlyMap<string, number> }
);

export interface Sample {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, ColumnSample>;
}

/** Bounds the memory of a sample: 256 MiB of numbers. */
const maxCells = 2 ** 25;

export const isCategorical = ({ type, values }: ColumnSchema): boolean =>
  type === "string" || type === "bool" || (type === "int" && values !== undefined);

/** Returns a whole number below 2^32 that looks random: the finalizer of MurmurHash3. */
function hash(row: number): number {
  let mixed = row | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * Reads the values of columns. Of a version with more than 2^25 values it reads the rows whose number has a small hash:
 * each row has the same chance, and the same version gives the same sample.
 */
export async function readSample(
  { rowCount }: Pick<DatasetManifest, "rowCount">,
  rows: RowSource,
  columns: readonly ColumnSchema[],
  cells: number = maxCells,
): Promise<Sample> {
  const share = Math.min(1, cells / Math.max(1, rowCount * columns.length));
  const below = share * 2 ** 32;
  const collectors = columns.map((column) => new Collector(column));
  let taken = 0;
  for await (const batch of rows.read(columns)) {
    for (let row = 0; row < batch.rows; row += 1) {
      if (share < 1 && hash(batch.firstRow + row) >= below) continue;
      taken += 1;
      for (const collector of collectors) collector.add(batch.columns[collector.column.name]!, row);
    }
  }
  return { rows: taken, columns: new Map(collectors.map((one) => [one.column.name, one.finish()])) };
}

/** Collects one column. A tensor counts as the mean of its numbers. */
class Collector {
  private numbers = new Float64Array(1_024);
  private size = 0;
  private missing = 0;
  private readonly counts = new Map<string, number>();

  constructor(readonly column: ColumnSchema) {}

  add(values: Parameters<typeof categoryAt>[0], row: number): void {
    if (isCategorical(this.column)) {
      const category = categoryAt(values, row, this.column.type);
      if (category === undefined) this.missing += 1;
      else this.counts.set(String(category), (this.counts.get(String(category)) ?? 0) + 1);
      return;
    }
    if (values.kind === "string" || values.valid[row] === 0) {
      this.missing += 1;
      return;
    }
    if (this.size === this.numbers.length) {
      const grown = new Float64Array(2 * this.size);
      grown.set(this.numbers);
      this.numbers = grown;
    }
    this.numbers[this.size] = values.kind === "number" ? values.values[row]! : meanOf(values, row);
    this.size += 1;
  }

  finish(): ColumnSample {
    const { missing } = this;
    if (!isCategorical(this.column)) {
      const values = this.numbers.subarray(0, this.size).sort();
      return { kind: "number", rows: this.size + missing, missing, values };
    }
    const present = [...this.counts.values()].reduce((sum, rows) => sum + rows, 0);
    return { kind: "category", rows: present + missing, missing, counts: this.counts };
  }
}

function meanOf({ values, width }: { readonly values: Float32Array; readonly width: number }, row: number): number {
  let sum = 0;
  for (let at = row * width; at < (row + 1) * width; at += 1) sum += values[at]!;
  return sum / width;
}
