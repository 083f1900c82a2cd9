/** A row as JSON: numbers, text, booleans, times as ISO 8601 or milliseconds, tensors as (nested) lists. */
export type RawRow = Readonly<Record<string, unknown>>;

/** Parses a time; NaN if it is none. Times without an offset are UTC, as in a dataset. */
export function timeOf(value: unknown): number {
  if (typeof value === "number") return Math.floor(value);
  if (value instanceof Date) return value.getTime();
  if (typeof value !== "string") return Number.NaN;
  const iso = value.trim().replace(" ", "T");
  return Date.parse(/T/.test(iso) && !/(Z|[+-]\d\d:?\d\d)$/i.test(iso) ? `${iso}Z` : iso);
}
/** A value of a column with classes or categories. */
export type Category = string | number | boolean;

/** Compares in ascending order: numbers by size, text by code unit, false before true; missing last. */
export function compareCategories(a: Category | null, b: Category | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b ? -1 : 1;
}
