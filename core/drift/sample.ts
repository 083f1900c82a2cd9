import type { ColumnSchema, DatasetManifest } from "../datasets/shapes";
import { rowHash } from "../features/row-sample";
import { type ColumnValues, categoryAt, type RowSource } from "../features/values";

/** Values of a column: sorted numbers, or rows by category. */
export type ColumnSample = { readonly rows: number; readonly missing: number } & (
  | { readonly kind: "number"; readonly values: Float64Array }
  | { readonly kind: "category"; readonly counts: ReadonlyMap<string, number> }
);

/** Values of a column of some rows, in their order. */
export type JointColumn =
  | { readonly kind: "number"; readonly values: readonly (number | undefined)[] }
  | { readonly kind: "category"; readonly values: readonly (string | undefined)[] };

export interface Sample {
  readonly rows: number;
  readonly columns: ReadonlyMap<string, ColumnSample>;
  /** Whole rows, for tests of several columns together. */
  readonly joint: { readonly rows: number; readonly columns: ReadonlyMap<string, JointColumn> };
}

/** Bounds the memory of a sample: 256 MiB of numbers. */
const maxCells = 2 ** 25;
/** Expected number of whole rows. */
export const jointRows = 2_500;

export const isCategorical = ({ type, values }: ColumnSchema): boolean =>
  type === "string" || type === "bool" || (type === "int" && values !== undefined);

/**
 * Reads the values of columns. Of a version with more than 2^25 values it reads the rows whose number has a small hash:
 * each row has the same chance, and the same version gives the same sample.
 *
 * @param jointColumns the columns of whole rows, of which it reads about 2,500
 */
export async function readSample(
  { rowCount }: Pick<DatasetManifest, "rowCount">,
  rows: RowSource,
  columns: readonly ColumnSchema[],
  jointColumns: readonly ColumnSchema[] = [],
  cells: number = maxCells,
): Promise<Sample> {
  const share = Math.min(1, cells / Math.max(1, rowCount * columns.length));
  const [below, jointBelow] = [share, Math.min(share, jointRows / Math.max(1, rowCount))].map((one) => one * 2 ** 32);
  const collectors = columns.map((column) => new Collector(column));
  const joint = jointColumns.map((column) => ({ column, values: [] as unknown[] }));
  let [taken, takenJoint] = [0, 0];
  for await (const batch of rows.read(columns)) {
    const hashes = Uint32Array.from({ length: batch.rows }, (_hash, row) => rowHash(batch.firstRow + row));
    const rowsBelow = (limit: number) => Uint32Array.from(hashes.keys()).filter((row) => hashes[row]! < limit);
    const [some, whole] = [rowsBelow(below!), rowsBelow(jointBelow!)];
    taken += some.length;
    takenJoint += whole.length;
    for (const collector of collectors) collector.add(batch.columns[collector.column.name]!, some);
    for (const { column, values } of joint) {
      for (const row of whole) values.push(valueAt(column, batch.columns[column.name]!, row));
    }
  }
  const wholeRows = joint.map(({ column, values }) => {
    const kind = isCategorical(column) ? "category" : "number";
    return [column.name, { kind, values } as JointColumn] as const;
  });
  return {
    rows: taken,
    columns: new Map(collectors.map((one) => [one.column.name, one.finish()])),
    joint: { rows: takenJoint, columns: new Map(wholeRows) },
  };
}

/** Returns a category as text, or a number; `undefined` if it is missing. A tensor counts as the mean of its numbers. */
function valueAt(column: ColumnSchema, values: ColumnValues, row: number): string | number | undefined {
  if (isCategorical(column)) {
    const category = categoryAt(values, row, column.type);
    return category === undefined ? undefined : String(category);
  }
  if (values.kind === "string" || values.valid[row] === 0) return undefined;
  return values.kind === "number" ? values.values[row]! : meanOf(values, row);
}

export class Collector {
  private numbers = new Float64Array(1_024);
  private size = 0;
  private missing = 0;
  private readonly counts = new Map<string, number>();

  constructor(readonly column: ColumnSchema) {}

  add(values: ColumnValues, rows: Uint32Array): void {
    for (const row of rows) this.addValue(valueAt(this.column, values, row));
  }

  addValue(value: string | number | undefined): void {
    if (value === undefined) this.missing += 1;
    else if (typeof value === "string") this.counts.set(value, (this.counts.get(value) ?? 0) + 1);
    else {
      if (this.size === this.numbers.length) {
        const grown = new Float64Array(2 * this.size);
        grown.set(this.numbers);
        this.numbers = grown;
      }
      this.numbers[this.size] = value;
      this.size += 1;
    }
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
