import type { SplitName } from "../datasets/manifest";
import type { ContentReference } from "../ports";
import type { FeatureTransform, LabelEncoding } from "./shapes";

export type { FeatureOutput, FeatureTransform, LabelEncoding } from "./shapes";

/** The part of a timestamp that becomes a one-hot, in UTC: hour 0–23, day of the week 0–6 from Sunday, month 1–12. */
export type TimestampPart = "hour" | "dayOfWeek" | "month";

/**
 * A materialised shard: safetensors with `numeric` F32 [rows, n] (standardised), `codes` I32 [rows, c], `label` I32
 * [rows] (class index) or F32 [rows] (value), and, in the test split, `slices` I32 [rows, s] (index into
 * `SliceColumn.values`). Tensors with a zero dimension are omitted.
 */
export interface FeatureShard extends ContentReference {
  readonly rows: number;
}

export interface SliceColumn {
  readonly column: string;
  readonly values: readonly (string | number | boolean | null)[];
}

/** A materialised feature set. Its JSON is stored at `objectKeys.featureManifest(inputHash)`. */
export interface FeatureManifest {
  readonly inputHash: string;
  readonly dataset: { readonly name: string; readonly version: number; readonly digest: string };
  readonly transform: FeatureTransform;
  readonly label: LabelEncoding;
  readonly slices: readonly SliceColumn[];
  readonly splits: Readonly<Record<SplitName, { readonly rows: number; readonly shards: readonly FeatureShard[] }>>;
}
