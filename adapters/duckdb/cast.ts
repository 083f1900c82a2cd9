import { numberReading } from "../../core/datasets/number-format";
import { elementsOf, isNullable } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import { quoteName, quoteText } from "./session";

type SourceKind = "text" | "integer" | "real" | "boolean" | "time" | "zoned-time" | "list" | "other";

export const canonicalTypes: Readonly<Record<ColumnSchema["type"], string>> = {
  int: "BIGINT",
  float: "DOUBLE",
  string: "VARCHAR",
  bool: "BOOLEAN",
  timestamp: "TIMESTAMP",
  tensor: "FLOAT[]",
};

/**
 * Returns SQL for the column's canonical value. It is NULL for a missing value and for a value of another type than the
 * schema's. The rules distinguish the two. Values are never changed to fit: 3.7 is not an int, unlike in DuckDB's own
 * cast.
 */
export function castTo(column: ColumnSchema, sourceType: string): string {
  const raw = rawValue(column, sourceType);
  const kind = kindOf(sourceType);
  switch (column.type) {
    case "int":
      return castInt(kind === "text" ? plainNumber(raw, column.format) : raw, kind);
    case "float": {
      const number = kind === "text" ? plainNumber(raw, column.format) : raw;
      const value =
        kind === "text" || kind === "integer" || kind === "real" ? `TRY_CAST(${number} AS DOUBLE)` : none("DOUBLE");
      // In a nullable number column, NaN also means missing: numeric tools write missing values as NaN.
      return isNullable(column) ? `CASE WHEN NOT isnan(${value}) THEN ${value} END` : value;
    }
    case "string":
      return kind === "list" || kind === "other" ? none("VARCHAR") : `CAST(${raw} AS VARCHAR)`;
    case "bool":
      return castBool(raw, kind);
    case "timestamp":
      return castTimestamp(raw, kind, column.format);
    case "tensor":
      return castTensor(raw, kind, sourceType, elementsOf(column));
  }
}

/** Returns SQL for the value as the file has it; NULL for one of the column's missing tokens. */
export function rawValue({ name, missing = [] }: ColumnSchema, sourceType: string): string {
  const kind = kindOf(sourceType);
  // Functions of text take neither.
  const raw = /^(UUID|ENUM)/.test(sourceType) ? `CAST(${quoteName(name)} AS VARCHAR)` : quoteName(name);
  if (kind === "text" && missing.length > 0) {
    return `CASE WHEN trim(${raw}) NOT IN (${missing.map(quoteText).join(", ")}) THEN ${raw} END`;
  }
  const numbers = missing.filter((token) => Number.isFinite(Number(token)));
  if ((kind !== "integer" && kind !== "real") || numbers.length === 0) return raw;
  return `CASE WHEN ${raw} NOT IN (${numbers.map(Number).join(", ")}) THEN ${raw} END`;
}

/** Returns whether a value may have another type than the schema's. False if the types alone exclude it. */
export function mayMismatch(column: ColumnSchema, sourceType: string): boolean {
  return sourceType !== canonicalTypes[column.type] || column.type === "int" || column.type === "tensor";
}

/** Returns SQL for text in a number format as TRY_CAST reads it; NULL for other text. */
function plainNumber(raw: string, format: string | undefined): string {
  if (format === undefined) return raw;
  const { pattern, group, decimal, negative } = numberReading(format);
  const whole = quoteText(`^${pattern}$`);
  const text = negative === undefined ? `trim(${raw})` : withMinus(`trim(${raw})`, negative);
  let number = `regexp_replace(${text}, ${whole}, '\\1\\2\\3')`;
  if (group !== "") number = `replace(${number}, ${quoteText(group)}, '')`;
  if (decimal !== ".") number = `replace(${number}, ${quoteText(decimal)}, '.')`;
  return `CASE WHEN regexp_matches(${text}, ${whole}) THEN ${number} END`;
}

/** Returns SQL for text with a minus in front of a number that the pattern says to be negative. */
export function withMinus(text: string, negative: string): string {
  return `regexp_replace(${text}, ${quoteText(negative)}, '-\\1\\2\\3')`;
}

function castInt(raw: string, kind: SourceKind): string {
  const safe = (value: string): string => `CASE WHEN abs(${value}) <= 9007199254740991 THEN ${value} END`;
  const whole = `TRY_CAST(${raw} AS BIGINT)`;
  switch (kind) {
    case "text":
      return `CASE WHEN regexp_full_match(trim(${raw}), '[+-]?[0-9]+([.]0*)?') THEN ${safe(whole)} END`;
    case "integer":
      return safe(whole);
    case "real":
      return `CASE WHEN ${raw} = ${whole} THEN ${safe(whole)} END`;
    default:
      return none("BIGINT");
  }
}

function castBool(raw: string, kind: SourceKind): string {
  if (kind === "boolean") return raw;
  if (kind === "integer" || kind === "real") return `CASE WHEN ${raw} IN (0, 1) THEN ${raw} = 1 END`;
  if (kind !== "text") return none("BOOLEAN");
  const text = `lower(trim(${raw}))`;
  return `CASE WHEN ${text} IN ('true', 't', '1') THEN true WHEN ${text} IN ('false', 'f', '0') THEN false END`;
}

function castTimestamp(raw: string, kind: SourceKind, format: string | undefined): string {
  // A plain cast from text drops the offset (02:00+02 would become 02:00), so the value is cast through the type with a
  // time zone.
  const utc = (zoned: string): string => `CASE WHEN isfinite(${zoned}) THEN make_timestamp(epoch_us(${zoned})) END`;
  if (format !== undefined && (kind === "text" || kind === "integer")) {
    return utc(`try_strptime(trim(CAST(${raw} AS VARCHAR)), ${quoteText(format)})`);
  }
  // DuckDB reads 2/1/24 as the year 2.
  const iso = `CASE WHEN regexp_matches(${raw}, '^\\s*[0-9]{4,}[-/]') THEN ${raw} END`;
  if (kind === "text") return utc(`TRY_CAST(${iso} AS TIMESTAMPTZ)`);
  if (kind === "zoned-time") return utc(raw);
  if (kind !== "time") return none("TIMESTAMP");
  return `CASE WHEN isfinite(CAST(${raw} AS TIMESTAMP)) THEN CAST(${raw} AS TIMESTAMP) END`;
}

function castTensor(raw: string, kind: SourceKind, sourceType: string, elements: number): string {
  let list = none("FLOAT[]");
  if (kind === "text") {
    // Nested and flat lists have the numbers in the same order, so only the outermost brackets matter.
    list = `TRY_CAST('[' || replace(replace(${raw}, '[', ''), ']', '') || ']' AS FLOAT[])`;
  } else if (kind === "list") {
    const depth = sourceType.split("[").length - 1;
    const nested = `CAST(${raw} AS ${sourceType.replaceAll(/\[\d+\]/g, "[]")})`;
    list = `TRY_CAST(${"flatten(".repeat(depth - 1)}${nested}${")".repeat(depth - 1)} AS FLOAT[])`;
  }
  return `CASE WHEN len(${list}) = ${elements} AND list_count(${list}) = ${elements} AND isfinite(list_sum(${list})) THEN ${list} END`;
}

function none(type: string): string {
  return `CAST(NULL AS ${type})`;
}

function kindOf(type: string): SourceKind {
  if (type.endsWith("]")) return "list";
  if (/^(VARCHAR|JSON|UUID|ENUM)/.test(type)) return "text";
  if (/^U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/.test(type)) return "integer";
  if (/^(FLOAT|DOUBLE|DECIMAL)/.test(type)) return "real";
  if (type === "BOOLEAN") return "boolean";
  if (type === "TIMESTAMP WITH TIME ZONE") return "zoned-time";
  return /^(DATE|TIMESTAMP)/.test(type) ? "time" : "other";
}
