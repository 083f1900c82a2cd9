import type { SplitName } from "../datasets/manifest";
import type { ContentReference } from "../ports";

/** What of a timestamp becomes a one-hot, in UTC: hour 0–23, day of the week 0–6 from Sunday, month 1–12. */
export type TimestampPart = "hour" | "dayOfWeek" | "month";

/**
 * Where one column lands in the model's dense input. A timestamp has one output for each of its parts. Fitted on the training split only.
 *
 * `numeric`: `width` values `(x - mean) / deviation` from the shard's `numeric` tensor, columns `[source, source + width)`.
 * `one-hot`: from code `source` of the shard's `codes` tensor; code `k >= 0` sets position `offset + k`; `-1` (unknown or
 * missing) sets none.
 */
export type FeatureOutput =
  | {
      readonly kind: "numeric";
      readonly column: string;
      readonly offset: number;
      readonly width: number;
      readonly source: number;
      readonly mean: number;
      /** Never 0: a constant column has 1. */
      readonly deviation: number;
    }
  | {
      readonly kind: "one-hot";
      readonly column: string;
      /** Of a timestamp column. */
      readonly part?: TimestampPart;
      readonly offset: number;
      readonly width: number;
      readonly source: number;
      readonly vocabulary: readonly (string | number | boolean)[];
    };

/** The fitted transform, stored with the model: raw row in, dense input out. */
export interface FeatureTransform {
  readonly outputs: readonly FeatureOutput[];
  /** Elements of the dense input; the product of `shape`. */
  readonly width: number;
  /** What the model takes, without the batch axis: `[width]`, or an image's `[28, 28, 1]`. */
  readonly shape: readonly number[];
}

export type LabelEncoding =
  | { readonly kind: "class"; readonly column: string; readonly classes: readonly (string | number | boolean)[] }
  | { readonly kind: "value"; readonly column: string };

/**
 * A materialised shard: safetensors with `numeric` F32 [rows, n] (standardised already), `codes` I32 [rows, c], `label` I32 [rows]
 * (class index) or F32 [rows] (value), and, in the test split, `slices` I32 [rows, s] (index into `SliceColumn.values`).
 * Tensors with a zero dimension are left out.
 */
export interface FeatureShard extends ContentReference {
  readonly rows: number;
}

export interface SliceColumn {
  readonly column: string;
  readonly values: readonly (string | number | boolean | null)[];
}

/** A materialised feature set. Its JSON lies at `objectKeys.featureManifest(inputHash)`. */
export interface FeatureManifest {
  readonly inputHash: string;
  readonly dataset: { readonly name: string; readonly version: number; readonly digest: string };
  readonly transform: FeatureTransform;
  readonly label: LabelEncoding;
  readonly slices: readonly SliceColumn[];
  readonly splits: Readonly<Record<SplitName, { readonly rows: number; readonly shards: readonly FeatureShard[] }>>;
}
