import type { ColumnSchema } from "../datasets/manifest";
import type { Category } from "../datasets/profile";
import type { ColumnValues } from "./columns";
import type { TimestampPart } from "./manifest";

/** Returns the row's category; `undefined` if it is missing. */
export function categoryAt(
  values: ColumnValues,
  row: number,
  type: ColumnSchema["type"],
  part?: TimestampPart,
): Category | undefined {
  if (values.kind === "string") return values.values[row] ?? undefined;
  if (values.kind === "tensor") throw new Error("a tensor has no categories");
  if (values.valid[row] === 0) return undefined;
  const value = values.values[row]!;
  if (part !== undefined) return partOf(value, part);
  return type === "bool" ? value === 1 : value;
}

/** Returns a part of a time in milliseconds since the epoch, UTC. */
export function partOf(milliseconds: number, part: TimestampPart): number {
  switch (part) {
    case "hour":
      return modulo(Math.floor(milliseconds / 3_600_000), 24);
    case "dayOfWeek":
      return modulo(Math.floor(milliseconds / 86_400_000) + 4, 7); // 1970-01-01 was a Thursday
    case "month":
      return new Date(milliseconds).getUTCMonth() + 1;
  }
}

export function vocabularyOf(part: TimestampPart): readonly number[] {
  const [first, size] = part === "hour" ? [0, 24] : part === "dayOfWeek" ? [0, 7] : [1, 12];
  return Array.from({ length: size }, (_, i) => first + i);
}

/** Compares in ascending order: numbers by size, text by code unit, false before true; missing last. */
export function compareCategories(a: Category | null, b: Category | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b ? -1 : 1;
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
