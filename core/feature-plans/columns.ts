/**
 * Values of one expression for a batch of rows: numbers as float64 with NaN for a missing one, anything else as it is in
 * a canonical row, with `null` for a missing one.
 */
export type Column = Float64Array | DictionaryColumn | readonly unknown[];

/** Values of which each occurs in many rows. A function of them is computed once a value, not once a row. */
export class DictionaryColumn {
  constructor(
    /** The place in `values` of each row's value. */
    readonly codes: Int32Array,
    readonly values: readonly unknown[],
  ) {}
}

/** Returns the values with each distinct one once. */
export function dictionaryOf(count: number, valueAt: (row: number) => unknown): DictionaryColumn {
  const places = new Map<unknown, number>();
  const values: unknown[] = [];
  const codes = new Int32Array(count);
  let [last, place]: [unknown, number | undefined] = [undefined, undefined];
  for (let row = 0; row < count; row += 1) {
    const value = valueAt(row);
    if (value !== last || place === undefined) {
      place = places.get(value);
      if (place === undefined) {
        place = values.push(value) - 1;
        places.set(value, place);
      }
      last = value;
    }
    codes[row] = place;
  }
  return new DictionaryColumn(codes, values);
}

/** A batch of canonical rows by column, with the expressions that were computed for it. */
export interface RowColumns {
  readonly count: number;
  readonly columns: Map<string, Column>;
  readonly computed: Map<object, Column>;
}

export function rowColumns(count: number, columns: Map<string, Column>): RowColumns {
  return { count, columns, computed: new Map() };
}

/** Returns the column as distinct values with a code for each row. */
export function asDictionary(column: Column): DictionaryColumn {
  return column instanceof DictionaryColumn ? column : dictionaryOf(column.length, (row) => valueIn(column, row));
}

export function numbersOf(column: Column, count: number): Float64Array {
  if (column instanceof Float64Array) return column;
  return Float64Array.from({ length: count }, (_, row) => (valueIn(column, row) as number | null) ?? Number.NaN);
}

/** Returns an expression's values, each computed once a batch. */
export function columnOf(expression: { columnOf(rows: RowColumns): Column }, rows: RowColumns): Column {
  const cachedColumn = rows.computed.get(expression);
  if (cachedColumn !== undefined) return cachedColumn;
  const column = expression.columnOf(rows);
  rows.computed.set(expression, column);
  return column;
}

/** Returns the value in a row; `null` if it is missing. */
export function valueIn(column: Column, row: number): unknown {
  const value = column instanceof DictionaryColumn ? column.values[column.codes[row]!] : column[row];
  // NaN is the only value that differs from itself.
  // biome-ignore lint/suspicious/noSelfCompare: a test for NaN of any type
  return value === undefined || value !== value ? null : value;
}

/**
 * Returns a function's values for those of a dictionary, `null` for a missing one. They are kept with the dictionary, because
 * many batches may have the same one.
 */
function mappedValues(compute: (value: unknown) => unknown, values: readonly unknown[]): readonly unknown[] {
  const cachedValues = mapped.get(values)?.get(compute);
  if (cachedValues) return cachedValues;
  const result = values.map((value) => (value === null ? null : compute(value)));
  if (!mapped.has(values)) mapped.set(values, new Map());
  mapped.get(values)!.set(compute, result);
  return result;
}
const mapped = new WeakMap<readonly unknown[], Map<unknown, readonly unknown[]>>();

function gather(numbers: Float64Array, codes: Int32Array): Float64Array {
  const result = new Float64Array(codes.length);
  for (let row = 0; row < codes.length; row += 1) result[row] = numbers[codes[row]!]!;
  return result;
}

/** Computes a function of two columns of numbers. A NaN is a missing value. */
export type NumberKernel = (a: Float64Array, b: Float64Array) => Float64Array;

/**
 * Computes a column from one or two others. A row that lacks one of them is missing.
 *
 * @param kernel computes the same for columns of numbers, in less time
 */
export function mapColumns(
  isNumber: boolean,
  count: number,
  compute: (a: never, b: never) => unknown,
  a: Column,
  b?: Column,
  kernel?: NumberKernel,
): Column {
  if (kernel && a instanceof Float64Array && b instanceof Float64Array) return kernel(a, b);
  const of = compute as (a: unknown, b?: unknown) => unknown;
  if (a instanceof DictionaryColumn && b === undefined) {
    const values = mappedValues(of, a.values);
    if (!isNumber) return new DictionaryColumn(a.codes, values);
    const numbers = Float64Array.from(values, (value) => (value as number | null) ?? Number.NaN);
    return gather(numbers, a.codes);
  }
  if (!isNumber && b === undefined) {
    const dictionary = asDictionary(a);
    return new DictionaryColumn(dictionary.codes, mappedValues(of, dictionary.values));
  }
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
