import { encodeFeatureShard, shardLayout } from "../../core/features/encoding";
import type { FeatureManifest, FeatureTransform, LabelEncoding } from "../../core/features/shapes";
import type { ContentReference } from "../../core/shapes";

/** The transform of one column, x, of so many numbers, which leaves its values as they are. */
export const numbersOf = (width: number): FeatureTransform => ({
  outputs: [{ kind: "numeric", column: "x", offset: 0, width, source: 0, mean: 0, deviation: 1 }],
  width,
  shape: [width],
});
export const oneColumn = numbersOf(1);

const none = new Int32Array(0);
/** A shard of rows without slices. */
export const encodeRows = (
  transform: FeatureTransform,
  label: Int32Array,
  numeric: Float32Array,
  codes = none,
): Uint8Array =>
  encodeFeatureShard({ rows: label.length, numeric, codes, label, slices: none }, shardLayout(transform));

/** All splits are the same unless they are given. */
export const manifestOf = (
  transform: FeatureTransform,
  classes: readonly (string | number)[],
  split: FeatureSplit,
  splits: Partial<FeatureManifest["splits"]> = {},
): FeatureManifest => ({
  ...{ inputHash: "test", dataset: { name: "d", version: 1, digest: "d".repeat(64) }, transform, slices: [] },
  label: { kind: "class", column: "y", classes },
  splits: { train: split, validation: split, test: split, ...splits },
});

type FeatureSplit = FeatureManifest["splits"]["train"];

interface OneColumnRows {
  readonly xs: readonly number[];
  /** By row: class indexes, or values. */
  readonly labels: readonly number[];
  readonly label: LabelEncoding;
  readonly slices?: FeatureManifest["slices"];
  /** By row, by slice column: index into the column's values. */
  readonly codes?: readonly (readonly number[])[];
  readonly shardRows?: number;
  readonly digest?: string;
}

/** Stores the test split of a dataset with one column, as the step that prepares features does. */
export async function storeOneColumn(
  objects: { readonly putContent: (bytes: Uint8Array) => Promise<ContentReference> },
  { xs, labels, label, slices = [], codes = [], shardRows = xs.length, digest = "d".repeat(64) }: OneColumnRows,
): Promise<FeatureManifest> {
  const shards = [];
  for (let from = 0; from < xs.length; from += shardRows) {
    const numeric = Float32Array.from(xs.slice(from, from + shardRows));
    const part = labels.slice(from, from + shardRows);
    const rows = numeric.length;
    const shard = {
      ...{ rows, numeric, codes: none },
      label: label.kind === "class" ? Int32Array.from(part) : Float32Array.from(part),
      slices: Int32Array.from(codes.slice(from, from + shardRows).flat()),
    };
    shards.push({ ...(await objects.putContent(encodeFeatureShard(shard, shardLayout(oneColumn)))), rows });
  }
  const empty = { rows: 0, shards: [] };
  return {
    ...{ inputHash: "f00", dataset: { name: "toy", version: 1, digest }, transform: oneColumn, label, slices },
    splits: { train: empty, validation: empty, test: { rows: xs.length, shards } },
  };
}
