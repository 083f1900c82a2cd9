import type { ColumnSchema } from "../datasets/manifest";

/**
 * Values of one column over the rows of a batch. A value is missing if `valid` is 0 or its text is `null`.
 *
 * `number` holds int and float unchanged, bool as 0 and 1, timestamps as milliseconds since the epoch.
 */
export type ColumnValues =
  | { readonly kind: "number"; readonly values: Float64Array; readonly valid: Uint8Array }
  | { readonly kind: "string"; readonly values: readonly (string | null)[] }
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
