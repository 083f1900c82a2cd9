import type { ContentReference } from "../ports";

/** Column types of a dataset's schema. `tensor` is a fixed-shape list of numbers, e.g. an image. */
export type ColumnType = "int" | "float" | "string" | "bool" | "timestamp" | "tensor";

/** What a column is for. `ignore` keeps the column in the data and out of the features. */
export type ColumnRole = "feature" | "label" | "slice" | "ignore";

export interface ColumnSchema {
  readonly name: string;
  readonly type: ColumnType;
  readonly role: ColumnRole;
  /** Of a tensor: `[28, 28, 1]`. */
  readonly shape?: readonly number[];
  /** Whether a row may lack it. A label never may. */
  readonly nullable?: boolean;
  /** Closed set of values; anything else is refused at validation. */
  readonly values?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface DatasetShard extends ContentReference {
  readonly rows: number;
}

export const splitNames = ["train", "validation", "test"] as const;
export type SplitName = (typeof splitNames)[number];

/** An index file: the split's row numbers (0-based over the whole version) ascending, unsigned 32-bit little-endian. */
export interface SplitIndex extends ContentReference {
  readonly rows: number;
}

/** An immutable version of a dataset. Its JSON lies at `objectKeys.datasetManifest(name, version)`. */
export interface DatasetManifest {
  readonly name: string;
  /** 1, 2, 3, … */
  readonly version: number;
  /** SHA-256 over schema, shards and splits: equal content is the same version. */
  readonly digest: string;
  readonly schema: readonly ColumnSchema[];
  /** SHA-256 over column names and types. */
  readonly schemaHash: string;
  readonly rowCount: number;
  readonly bytes: number;
  /** Parquet, in row order. */
  readonly shards: readonly DatasetShard[];
  readonly split: {
    readonly seed: number;
    readonly fractions: Readonly<Record<SplitName, number>>;
    /** Column whose classes are spread evenly over the splits. */
    readonly stratifyBy?: string;
    readonly indexes: Readonly<Record<SplitName, SplitIndex>>;
  };
  /** ISO 8601. */
  readonly createdAt: string;
}
