/** A value of a column with classes or categories. */
export type Category = string | number | boolean;

/** Compares in ascending order: numbers by size, text by code unit, false before true; missing last. */
export function compareCategories(a: Category | null, b: Category | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b ? -1 : 1;
}
