import type { PlanColumn } from "./shapes";

/** A part of the date of a number of days since 1970-01-01. */
export type CalendarPart = "year" | "month" | "day" | "dayOfYear";

/** The parts of SQL in which DuckDB and Trino (Athena) differ. All numbers are DOUBLE. */
export interface Dialect {
  readonly id: "duckdb" | "trino";
  name(name: string): string;
  number(value: number): string;
  text(value: string): string;
  /** Returns a source column in canonical form: DOUBLE without NaN, milliseconds for times, VARCHAR, BOOLEAN. */
  canonical(column: string, type: PlanColumn["type"]): string;
  isFinite(x: string): string;
  /** Returns the first 32 bits of the text's MD5 as a BIGINT. */
  hash(x: string): string;
  ngramBuckets(
    x: string,
    options: { readonly n: number; readonly buckets: number; readonly maxCharacters: number },
  ): string;
  countIn(list: string, value: number): string;
  lookup(x: string, table: ReadonlyMap<string, number>): string;
  calendarPart(days: string, part: CalendarPart): string;
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;

/** Both parse an exponent as DOUBLE; without one, 0.1 would be a DECIMAL. */
function double(value: number): string {
  const written = value.toExponential().replace("e+", "e").toUpperCase();
  return value < 0 || Object.is(value, -0) ? `(${written})` : written;
}

const shared = { name: quoted, number: double, text: literal };

export const duckdb: Dialect = {
  ...shared,
  id: "duckdb",
  canonical(column, type) {
    const name = quoted(column);
    if (type === "string") return `CAST(${name} AS VARCHAR)`;
    if (type === "bool") return `CAST(${name} AS BOOLEAN)`;
    if (type === "timestamp") {
      const time = `CAST(${name} AS TIMESTAMP)`;
      return `CAST(epoch_ms(CASE WHEN isfinite(${time}) THEN ${time} END) AS DOUBLE)`;
    }
    const value = `CAST(${name} AS DOUBLE)`;
    return type === "int" ? value : `CASE WHEN NOT isnan(${value}) THEN ${value} END`;
  },
  isFinite: (x) => `isfinite(${x})`,
  hash: (x) => `CAST('0x' || substr(md5(${x}), 1, 8) AS BIGINT)`,
  ngramBuckets: (x, { n, buckets, maxCharacters }) =>
    // `least` skips a missing length.
    `CASE WHEN ${x} IS NOT NULL THEN list_transform(range(1, least(length(${x}), ${maxCharacters}) - ${n} + 2), ` +
    `lambda i: ${duckdb.hash(`substr(${x}, i, ${n})`)} % ${buckets}) END`,
  countIn: (list, value) => `CAST(len(list_filter(${list}, lambda b: b = ${value})) AS DOUBLE)`,
  lookup(x, table) {
    if (table.size === 0) return "CAST(NULL AS DOUBLE)";
    // A cast to ENUM finds the text by its hash; a CASE would compare it with each text.
    const code = `enum_code(TRY_CAST(${x} AS ENUM(${[...table.keys()].map(literal).join(", ")})))`;
    const values = [...table.values()];
    if (values.every((value, index) => value === index)) return `CAST(${code} AS DOUBLE)`;
    return `list_extract([${values.map(double).join(", ")}], CAST(${code} AS BIGINT) + 1)`;
  },
  calendarPart: (days, part) =>
    `${part === "dayOfYear" ? "dayofyear" : part}(DATE '1970-01-01' + CAST(${days} AS INTEGER))`,
};

/** Athena's engine 3. `test/peers/trino.test.ts` runs it on Trino. */
export const trino: Dialect = {
  ...shared,
  id: "trino",
  canonical(column, type) {
    const name = quoted(column);
    if (type === "string") return `CAST(${name} AS VARCHAR)`;
    if (type === "bool") return `CAST(${name} AS BOOLEAN)`;
    if (type === "timestamp") {
      return `CAST(date_diff('millisecond', TIMESTAMP '1970-01-01 00:00:00', CAST(${name} AS TIMESTAMP(3))) AS DOUBLE)`;
    }
    const value = `CAST(${name} AS DOUBLE)`;
    return type === "int" ? value : `CASE WHEN NOT is_nan(${value}) THEN ${value} END`;
  },
  isFinite: (x) => `is_finite(${x})`,
  hash: (x) => `from_base(substr(to_hex(md5(to_utf8(${x}))), 1, 8), 16)`,
  // `sequence` counts down if its end is below its start, so a short text is a case of its own.
  ngramBuckets: (x, { n, buckets, maxCharacters }) =>
    `CASE WHEN length(${x}) >= ${n} THEN transform(sequence(1, least(length(${x}), ${maxCharacters}) - ${n} + 1), ` +
    `i -> ${trino.hash(`substr(${x}, i, ${n})`)} % ${buckets}) ` +
    `WHEN ${x} IS NOT NULL THEN CAST(ARRAY[] AS ARRAY(BIGINT)) END`,
  countIn: (list, value) => `CAST(cardinality(filter(${list}, b -> b = ${value})) AS DOUBLE)`,
  lookup: (x, table) =>
    `element_at(CAST(json_parse(${literal(JSON.stringify(Object.fromEntries(table)))}) AS MAP(VARCHAR, DOUBLE)), ${x})`,
  calendarPart: (days, part) =>
    `${part === "dayOfYear" ? "day_of_year" : part}(date_add('day', CAST(${days} AS BIGINT), DATE '1970-01-01'))`,
};
