import type { Category } from "../datasets/profile";
import type { ColumnSchema } from "../datasets/shapes";
import type { TimestampPart } from "./shapes";

/**
 * Values of one column over the rows of a batch. A value is missing if `valid` is 0 or its text is `null`.
 *
 * `number` holds int and float unchanged, bool as 0 and 1, timestamps as milliseconds since the epoch. `string` holds the
 * text of each row; with `codes`, each text once, and the place of each row's text (`textAt`).
 */
export type ColumnValues =
  | { readonly kind: "number"; readonly values: Float64Array; readonly valid: Uint8Array }
  | { readonly kind: "string"; readonly values: readonly (string | null)[]; readonly codes?: Int32Array }
  /** `values` is `[rows, width]`. */
  | { readonly kind: "tensor"; readonly values: Float32Array; readonly width: number; readonly valid: Uint8Array };

/** A few thousand rows, stored by column. */
export interface ColumnBatch {
  readonly rows: number;
  /** Number of its first row in the dataset, from 0. */
  readonly firstRow: number;
  readonly columns: Readonly<Record<string, ColumnValues>>;
}

/** Reads rows in order; each call starts at the first row. */
export interface RowSource {
  read(columns: readonly ColumnSchema[]): AsyncIterable<ColumnBatch>;
}

/** Returns the row's text; `null` if it is missing. */
export function textAt(values: Extract<ColumnValues, { readonly kind: "string" }>, row: number): string | null {
  return values.values[values.codes === undefined ? row : values.codes[row]!] ?? null;
}

/** Returns the row's category; `undefined` if it is missing. */
export function categoryAt(
  values: ColumnValues,
  row: number,
  type: ColumnSchema["type"],
  part?: TimestampPart,
): Category | undefined {
  if (values.kind === "string") return textAt(values, row) ?? undefined;
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

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
