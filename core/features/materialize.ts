import { type ColumnSchema, type DatasetManifest, type SplitName, splitNames } from "../datasets/shapes";
import { decodeSplitIndex, splitOfRows } from "../datasets/split-index";
import { sha256 } from "../digest";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import type { Job } from "../runs/job";
import { sourceColumnsOf } from "../views/view-file";
import { FeatureFitter, type FittedFeatures } from "./fit";
import { type Plan, planFeatures } from "./plan";
import { fitPlanOnRows, viewOf } from "./planned-fit";
import { plannedTransform } from "./planned-rows";
import type { FeatureManifest, FeatureShard } from "./shapes";
import { ShardEncoder } from "./shard-encoder";
import type { RowSource } from "./values";

/** Output of the step `PrepareFeatures`. */
export interface FeaturesOutput {
  readonly featureManifestKey: string;
  /** Digest of the manifest's JSON. */
  readonly digest: string;
  readonly width: number;
  readonly rows: { readonly train: number; readonly validation: number; readonly test: number };
}

/** The settings of a job on which features depend. */
export type FeatureSettings = Pick<Job, "columns" | "drop" | "features"> & {
  readonly evaluation: Pick<Job["evaluation"], "slices">;
};

/**
 * Fits the transform on the training split and materialises all three splits. Makes two passes over the rows and holds
 * one shard of each split in memory. A function of dataset version and settings: equal input gives equal bytes, so that
 * a repeated call is harmless.
 *
 * @throws InvalidInputError, TooManyValuesError, InvalidManifestError
 */
export async function materializeFeatures(input: {
  readonly manifest: DatasetManifest;
  readonly settings: FeatureSettings;
  readonly rows: RowSource;
  readonly objects: ObjectStore;
  readonly inputHash: string;
  /** Size of a shard; for tests. */
  readonly shardBytes?: number;
}): Promise<FeaturesOutput> {
  const { manifest, settings, rows, objects, inputHash } = input;
  const plan = planFeatures(manifest.schema, settings.evaluation.slices, settings);
  const columns = columnsOf(plan);
  const splitOf = await readSplits(manifest, objects);

  const splitOfRow = (row: number): SplitName => splitNames[splitOf[row]!]!;
  const fitter = new FeatureFitter(plan, settings.features);
  // A plan has a pass of its own. The rest of the fit needs the rows for classes and slices alone.
  if (plan.features.length > 0 || plan.label.kind === "class" || plan.slices.length > 0) {
    for await (const batch of rows.read(columns)) fitter.add(batch, splitOfRow);
  }
  const view = viewOf(settings.features);
  const training = { rows: manifest.split.indexes.train.rows, splitOf: splitOfRow };
  const fitted: FittedFeatures = view
    ? {
        ...fitter.finish(),
        transform: plannedTransform(await fitPlanOnRows(view, manifest.schema, rows, training)),
      }
    : fitter.finish();

  const shards: Record<SplitName, FeatureShard[]> = { train: [], validation: [], test: [] };
  const encoders = splitNames.map(
    (split) =>
      new ShardEncoder(fitted, manifest.schema, {
        rows: manifest.split.indexes[split].rows,
        withSlices: split === "test",
        outOfFold: split === "train",
        shardBytes: input.shardBytes,
      }),
  );
  const planned = new Set(view ? sourceColumnsOf(view) : []);
  const read = manifest.schema.filter((column) => planned.has(column.name) || columns.includes(column));
  for await (const batch of rows.read(view ? read : columns)) {
    const all = Uint32Array.from({ length: batch.rows }, (_, row) => row);
    for (const [index, split] of splitNames.entries()) {
      for (const shard of encoders[index]!.add(
        batch,
        all.filter((row) => splitOf[batch.firstRow + row] === index),
      )) {
        const { sha256, bytes } = await objects.putContent(shard.bytes);
        shards[split].push({ sha256, bytes, rows: shard.rows });
      }
    }
  }

  const countOf = (split: SplitName): number => manifest.split.indexes[split].rows;
  const { name, version, digest } = manifest;
  const features: FeatureManifest = {
    inputHash,
    dataset: { name, version, digest },
    ...fitted,
    splits: {
      train: { rows: countOf("train"), shards: shards.train },
      validation: { rows: countOf("validation"), shards: shards.validation },
      test: { rows: countOf("test"), shards: shards.test },
    },
  };
  const text = JSON.stringify(features);
  const featureManifestKey = objectKeys.featureManifest(inputHash);
  await objects.put(featureManifestKey, text, "application/json");
  return {
    featureManifestKey,
    digest: sha256(text),
    width: fitted.transform.width,
    rows: { train: countOf("train"), validation: countOf("validation"), test: countOf("test") },
  };
}

/** Returns each column once, even if it has several features. */
function columnsOf(plan: Plan): readonly ColumnSchema[] {
  const all = [...plan.features.map(({ column }) => column), plan.label.column, ...plan.slices];
  return [...new Map(all.map((column) => [column.name, column])).values()];
}

/** Returns the index into `splitNames` of each row. */
export async function readSplits(
  manifest: DatasetManifest,
  objects: Pick<ObjectStore, "getContent">,
): Promise<Uint8Array> {
  const [train, validation, test] = await Promise.all(
    splitNames.map(async (split) => decodeSplitIndex(await objects.getContent(manifest.split.indexes[split].sha256))),
  );
  return splitOfRows(manifest.name, manifest.rowCount, { train: train!, validation: validation!, test: test! });
}
