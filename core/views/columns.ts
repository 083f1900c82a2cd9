/**
 * Values of one expression for a batch of rows: numbers as float64 with NaN for a missing one, anything else as it is in
 * a canonical row, with `null` for a missing one.
 */
export type Column = Float64Array | readonly unknown[];

/** A batch of canonical rows by column, with the expressions that were computed for it. */
export interface RowColumns {
  readonly count: number;
  readonly columns: Map<string, Column>;
  readonly computed: Map<object, Column>;
}

export function rowColumns(count: number, columns: Map<string, Column>): RowColumns {
  return { count, columns, computed: new Map() };
}

/** Returns rows in memory by column. */
export function columnsOf(rows: readonly Readonly<Record<string, unknown>>[]): RowColumns {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return rowColumns(rows.length, new Map([...names].map((name) => [name, rows.map((row) => row[name] ?? null)])));
}

/** Returns an expression's values, each computed once a batch. */
export function columnOf(expression: { columnOf(rows: RowColumns): Column }, rows: RowColumns): Column {
  const known = rows.computed.get(expression);
  if (known !== undefined) return known;
  const column = expression.columnOf(rows);
  rows.computed.set(expression, column);
  return column;
}

/** Returns the value in a row; `null` if it is missing. */
export function valueIn(column: Column, row: number): unknown {
  const value = column[row];
  // NaN is the only value that differs from itself.
  // biome-ignore lint/suspicious/noSelfCompare: a test for NaN of any type
  return value === undefined || value !== value ? null : value;
}

/** Computes a column from one or two others. A row that lacks one of them is missing. */
export function mapColumns(
  isNumber: boolean,
  count: number,
  compute: (a: never, b: never) => unknown,
  a: Column,
  b?: Column,
): Column {
  const of = compute as (a: unknown, b?: unknown) => unknown;
  if (!isNumber) {
    return Array.from({ length: count }, (_, i) => {
      const [x, y] = [valueIn(a, i), b === undefined ? undefined : valueIn(b, i)];
      return x === null || y === null ? null : of(x, y);
    });
  }
  const result = new Float64Array(count);
  if (a instanceof Float64Array && (b === undefined || b instanceof Float64Array)) {
    const onNumbers = compute as unknown as (a: number, b?: number) => number | null;
    for (let i = 0; i < count; i += 1) {
      const x = a[i]!;
      const y = b === undefined ? 0 : b[i]!;
      result[i] = Number.isNaN(x) || Number.isNaN(y) ? Number.NaN : (onNumbers(x, y) ?? Number.NaN);
    }
    return result;
  }
  for (let i = 0; i < count; i += 1) {
    const x = valueIn(a, i);
    const y = b === undefined ? 0 : valueIn(b, i);
    result[i] = x === null || y === null ? Number.NaN : ((of(x, y) as number | null) ?? Number.NaN);
  }
  return result;
}
