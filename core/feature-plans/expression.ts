import {
  type Column,
  columnOf,
  DictionaryColumn,
  dictionaryOf,
  mapColumns,
  type NumberKernel,
  type RowColumns,
  valueIn,
} from "./columns";
import type { Dialect } from "./dialects";
import type { Computation, Operation } from "./operation";

/**
 * A row of columns and intermediate values in canonical form: numbers and times (milliseconds since the epoch) as
 * numbers without NaN, text, booleans, lists of numbers. `null` and `undefined` are missing.
 */
export type CanonicalRow = Readonly<Record<string, unknown>>;

/**
 * A value of a row, in three targets that agree: DuckDB's SQL, Trino's SQL and a function. Each function below defines
 * the three next to each other. Unless it says otherwise, a function of a missing value is missing.
 *
 * No expression has the value NaN: columns have none, and every operation that could give one is guarded. Guards are
 * around arguments (`ln(CASE WHEN x > 0 THEN x END)`), because a database may evaluate both branches of a CASE.
 */
export interface Expression<Value> {
  readonly operation: Operation;
  sql(dialect: Dialect): string;
  valueOf(row: CanonicalRow): Value | null;
  /** Returns what `valueOf` returns for each row of a batch, to the bit. Call `columnOf` of columns.ts. */
  columnOf(rows: RowColumns): Column;
}

export type NumberExpression = Expression<number>;
export type TextExpression = Expression<string>;
export type Condition = Expression<boolean>;

/** Returns a column of the row, or an intermediate value. */
export function variable<Value>(name: string): Expression<Value> {
  return {
    operation: { op: "variable", name, inputs: [] },
    sql: (dialect) => dialect.name(name),
    valueOf: (row) => (row[name] as Value | undefined) ?? null,
    columnOf: ({ columns, count }) => columns.get(name) ?? new Array<null>(count).fill(null),
  };
}

export function number(value: number): NumberExpression {
  let column = new Float64Array(0);
  return {
    operation: { op: "number", value, inputs: [] },
    sql: (dialect) => dialect.number(value),
    valueOf: () => value,
    columnOf: ({ count }) => {
      // Batches have one size, except the last.
      if (column.length !== count) column = new Float64Array(count).fill(value);
      return column;
    },
  };
}

export function text(value: string): TextExpression {
  return {
    operation: { op: "text", value, inputs: [] },
    sql: (dialect) => dialect.text(value),
    valueOf: () => value,
    columnOf: ({ count }) => new DictionaryColumn(new Int32Array(count), [value]),
  };
}

// Each kernel has a loop of its own: a loop that calls a function for each row takes several times as long.
export const add = arithmetic(
  "add",
  "+",
  (a, b) => a + b,
  (a, b) => {
    const result = new Float64Array(a.length);
    for (let i = 0; i < result.length; i += 1) result[i] = a[i]! + b[i]!;
    return result;
  },
);
export const subtract = arithmetic(
  "subtract",
  "-",
  (a, b) => a - b,
  (a, b) => {
    const result = new Float64Array(a.length);
    for (let i = 0; i < result.length; i += 1) result[i] = a[i]! - b[i]!;
    return result;
  },
);
export const multiply = arithmetic(
  "multiply",
  "*",
  (a, b) => a * b,
  (a, b) => {
    const result = new Float64Array(a.length);
    for (let i = 0; i < result.length; i += 1) result[i] = a[i]! * b[i]!;
    return result;
  },
);
/** Missing if `b` is 0. */
export function divide(a: NumberExpression, b: NumberExpression): NumberExpression {
  return strict(
    { op: "divide" },
    [a, b],
    (_, x, y) => `(${x} / nullif(${y}, 0E0))`,
    (x, y) => (y === 0 ? null : x / y),
    true,
    (x, y) => {
      const result = new Float64Array(x.length);
      for (let i = 0; i < result.length; i += 1) result[i] = y[i] === 0 ? Number.NaN : x[i]! / y[i]!;
      return result;
    },
  );
}

export function less(a: NumberExpression, b: NumberExpression): Condition {
  return strict(
    { op: "less" },
    [a, b],
    (_, x, y) => `(${x} < ${y})`,
    (x, y) => x < y,
    false,
  );
}

export function floor(a: NumberExpression): NumberExpression {
  return strict({ op: "floor" }, [a], (_, x) => `floor(${x})`, Math.floor);
}

/** Returns the remainder in `[0, by)`. */
export function modulo(a: NumberExpression, by: number): NumberExpression {
  return subtract(a, multiply(number(by), floor(divide(a, number(by)))));
}

/** Returns how many of the ascending boundaries are at most `a`. */
export function bucketIndex(a: NumberExpression, boundaries: readonly number[]): NumberExpression {
  return strict(
    { op: "bucketIndex", boundaries },
    [a],
    (dialect, x) => {
      const cases = boundaries.map(
        (boundary, i) => `WHEN ${x} < ${dialect.number(boundary)} THEN ${dialect.number(i)}`,
      );
      return `CASE ${cases.join(" ")} WHEN ${x} IS NOT NULL THEN ${dialect.number(boundaries.length)} END`;
    },
    (x) => {
      let [low, high] = [0, boundaries.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (x < boundaries[middle]!) high = middle;
        else low = middle + 1;
      }
      return low;
    },
  );
}

export function clamp(a: NumberExpression, low: number, high: number): NumberExpression {
  return strict(
    { op: "clamp", low, high },
    [a],
    // Not `least` and `greatest`: DuckDB's skip a missing value.
    (dialect, x) =>
      `CASE WHEN ${x} < ${dialect.number(low)} THEN ${dialect.number(low)} WHEN ${x} > ${dialect.number(high)} THEN ${dialect.number(high)} ELSE ${x} END`,
    (x) => (x < low ? low : x > high ? high : x),
  );
}

/** Missing if `a` is infinite. */
export function finite(a: NumberExpression): NumberExpression {
  return strict(
    { op: "finite" },
    [a],
    (dialect, x) => `CASE WHEN ${dialect.isFinite(x)} THEN ${x} END`,
    (x) => (Number.isFinite(x) ? x : null),
  );
}

/** Missing if `a` is not greater than 0. */
export function ln(a: NumberExpression): NumberExpression {
  return strict(
    { op: "ln" },
    [a],
    (_, x) => `ln(CASE WHEN ${x} > 0E0 THEN ${x} END)`,
    (x) => (x > 0 ? Math.log(x) : null),
  );
}

/** Missing if `a` is infinite, like `cos`. */
export function sin(a: NumberExpression): NumberExpression {
  return strict({ op: "sin" }, [finite(a)], (_, x) => `sin(${x})`, Math.sin);
}

export function cos(a: NumberExpression): NumberExpression {
  return strict({ op: "cos" }, [finite(a)], (_, x) => `cos(${x})`, Math.cos);
}

export function coalesce<Value>(a: Expression<Value>, otherwise: Expression<Value>): Expression<Value> {
  return {
    operation: { op: "coalesce", inputs: [a.operation, otherwise.operation] },
    sql: (dialect) => `coalesce(${a.sql(dialect)}, ${otherwise.sql(dialect)})`,
    valueOf: (row) => a.valueOf(row) ?? otherwise.valueOf(row),
    columnOf: (rows) => {
      const [first, second] = [columnOf(a, rows), columnOf(otherwise, rows)];
      if (first instanceof Float64Array && second instanceof Float64Array) {
        const result = first.slice();
        for (let i = 0; i < result.length; i += 1) if (Number.isNaN(result[i]!)) result[i] = second[i]!;
        return result;
      }
      const value = (row: number) => valueIn(first, row) ?? valueIn(second, row);
      if (first instanceof DictionaryColumn) return dictionaryOf(rows.count, value);
      return Array.from({ length: rows.count }, (_, row) => value(row));
    },
  };
}

/** Returns 1 if `a` is missing, otherwise 0. */
export function missing(a: Expression<unknown>): NumberExpression {
  return {
    operation: { op: "missing", inputs: [a.operation] },
    sql: (dialect) => `CASE WHEN ${a.sql(dialect)} IS NULL THEN 1E0 ELSE 0E0 END`,
    valueOf: (row) => (a.valueOf(row) === null ? 1 : 0),
    columnOf: (rows) => {
      const column = columnOf(a, rows);
      return Float64Array.from({ length: rows.count }, (_, i) => (valueIn(column, i) === null ? 1 : 0));
    },
  };
}

/** Returns the decimal text of a whole number below 2^53; missing for other numbers. */
export function wholeText(a: NumberExpression): TextExpression {
  const limit = 2 ** 53;
  return strict(
    { op: "wholeText" },
    [a],
    (_, x) => `CAST(CAST(CASE WHEN ${x} = floor(${x}) AND abs(${x}) < ${limit}E0 THEN ${x} END AS BIGINT) AS VARCHAR)`,
    (x) => (Number.isSafeInteger(x) ? String(x) : null),
    false,
  );
}

export function booleanText(a: Condition): TextExpression {
  return strict({ op: "booleanText" }, [a], (_, x) => `CAST(${x} AS VARCHAR)`, String, false);
}

export function booleanNumber(a: Condition): NumberExpression {
  return strict({ op: "booleanNumber" }, [a], (_, x) => `CASE WHEN ${x} THEN 1E0 WHEN NOT ${x} THEN 0E0 END`, Number);
}

function arithmetic(
  op: "add" | "subtract" | "multiply",
  sign: string,
  compute: (a: number, b: number) => number,
  kernel: NumberKernel,
) {
  return (a: NumberExpression, b: NumberExpression): NumberExpression =>
    strict({ op }, [a, b], (_, x, y) => `(${x} ${sign} ${y})`, compute, true, kernel);
}

type ValuesOf<Arguments extends readonly Expression<unknown>[]> = {
  [Key in keyof Arguments]: Arguments[Key] extends Expression<infer Value> ? Value : never;
};
type TextsOf<Arguments extends readonly unknown[]> = { [Key in keyof Arguments]: string };

/** Defines a function whose value is missing if one of its arguments is. */
export function strict<const Arguments extends readonly Expression<unknown>[], Value>(
  computation: Computation,
  parts: Arguments,
  sql: (dialect: Dialect, ...texts: TextsOf<Arguments>) => string,
  compute: (...values: ValuesOf<Arguments>) => Value | null,
  isNumber = true,
  kernel?: NumberKernel,
): Expression<Value> {
  const [first, second] = parts as readonly (Expression<unknown> | undefined)[];
  const onColumns = compute as unknown as (a: never, b: never) => unknown;
  return {
    operation: { ...computation, inputs: parts.map(({ operation }) => operation) },
    sql: (dialect) => sql(dialect, ...(parts.map((part) => part.sql(dialect)) as TextsOf<Arguments>)),
    valueOf: (row) => {
      const a = first?.valueOf(row) ?? null;
      if (a === null) return null;
      if (second === undefined) return (compute as (a: unknown) => Value | null)(a);
      const b = second.valueOf(row);
      return b === null ? null : (compute as (a: unknown, b: unknown) => Value | null)(a, b);
    },
    columnOf: (rows) =>
      mapColumns(isNumber, rows.count, onColumns, columnOf(first!, rows), second && columnOf(second, rows), kernel),
  };
}
