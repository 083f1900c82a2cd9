/** A row as JSON: numbers, text, booleans, times as ISO 8601 or milliseconds, tensors as (nested) lists. */
export type RawRow = Readonly<Record<string, unknown>>;

const timeForm =
  /^([+-]\d{6}|\d{4,6})([-/])(\d\d?)\2(\d\d?)(?:[T ] *(\d\d?):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d):?(\d\d)?)?)?$/i;

/**
 * Parses a time; NaN if it is none. Times without an offset are UTC, as in a dataset. `Date.parse` takes 30 February for 1
 * March, and other texts for times of the machine's zone.
 */
export function timeOf(value: unknown): number {
  if (typeof value === "number") return Math.floor(value);
  if (value instanceof Date) return value.getTime();
  const match = typeof value === "string" ? timeForm.exec(value.trim()) : null;
  if (!match) return Number.NaN;
  const [, year, , month, day, hour = 0, minute = 0, second = 0, fraction = "", sign, hours = 0, minutes = 0] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() + 1 !== Number(month) || date.getUTCDate() !== Number(day)) return Number.NaN;
  const inDay = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  if (inDay > 86_400 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -60 : 60);
  return date.getTime() + (inDay - offset) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, "0"));
}

/** A value of a column with classes or categories. */
export type Category = string | number | boolean;

/** Compares in ascending order: numbers by size, text by code unit, false before true; missing last. */
export function compareCategories(a: Category | null, b: Category | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b ? -1 : 1;
}
