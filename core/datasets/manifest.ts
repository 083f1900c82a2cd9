import type { ContentReference } from "../ports";

export type { ColumnRole, ColumnSchema, ColumnType, DatasetManifest, DatasetShard } from "./shapes";

export const splitNames = ["train", "validation", "test"] as const;
export type SplitName = (typeof splitNames)[number];

/**
 * An index file: the split's row numbers (0-based over the whole version), ascending, unsigned 32-bit little-endian.
 */
export interface SplitIndex extends ContentReference {
  readonly rows: number;
}
