import { type ColumnSchema, type DatasetManifest, type SplitName, splitNames } from "../datasets/shapes";
import type { ShardGroup } from "../datasets/shard-plan";
import { sha256 } from "../digest";
import { InvalidInputError } from "../errors";
import { sourceColumnsOf } from "../feature-plans/plan-columns";
import type { FittedPlan } from "../feature-plans/shapes";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import { planOf } from "../runs/feature-settings";
import type { Job } from "../runs/job";
import type { Rounds } from "../runs/rounds";
import { type FitColumns, fitColumnsOf } from "./feature-columns";
import { FeatureFitter, type FitState, type FittedFeatures } from "./fit";
import { fitPlanOnRows } from "./planned-fit";
import { plannedTransform } from "./planned-rows";
import type { FeatureManifest, FeatureShard, FeaturesOutput, FeatureTransform } from "./shapes";
import { ShardEncoder } from "./shard-encoder";
import type { ColumnBatch, RowSource } from "./values";

/** Output of the step `PrepareFeatures`. */
/** The settings of a job on which features depend. */
export type FeatureSettings = Pick<Job, "columns" | "drop" | "features"> & {
  readonly evaluation: Pick<Job["evaluation"], "slices">;
};

/** The rows of a group of shards, and the index into `splitNames` of each. */
interface GroupRows {
  readonly rows: RowSource;
  readonly splitOf: Uint8Array;
}

type EncodedShards = Readonly<Record<SplitName, readonly FeatureShard[]>>;

/**
 * Fits the transform on the training split and materialises all three splits. Makes two passes over the rows and holds
 * one shard of each split in memory. A function of dataset version and settings: equal input gives equal bytes, so that
 * a repeated call is harmless.
 *
 * A version of several groups of shards is processed in rounds: each group is fitted alone and the states are merged in
 * their order, then the rows of each group are encoded alone.
 *
 * @throws InvalidInputError, TOO_MANY_VALUES, VALUE_TOO_LARGE, INVALID_DATASET_MANIFEST, RoundPending, TaskDone
 */
export async function materializeFeatures(input: {
  readonly manifest: DatasetManifest;
  readonly settings: FeatureSettings;
  readonly groups: readonly ShardGroup[];
  readonly open: (group: ShardGroup) => Promise<GroupRows>;
  readonly rounds: Rounds;
  readonly objects: ObjectStore;
  readonly inputHash: string;
  /** Size of a shard; for tests. */
  readonly shardBytes?: number | undefined;
}): Promise<FeaturesOutput> {
  const { manifest, settings, objects, inputHash, rounds, groups, open } = input;
  const fitColumns = fitColumnsOf(manifest.schema, settings.evaluation.slices, settings);
  const columns = columnsOf(fitColumns);
  const plan = planOf(settings.features);

  const openPart = async (group: ShardGroup) => {
    const { rows, splitOf } = await open(group);
    return { rows, splitOf: (row: number): SplitName => splitNames[splitOf[row - group.firstRow]!]! };
  };
  const fitGroup = async (group: ShardGroup): Promise<FitState> => {
    const { rows, splitOf } = await openPart(group);
    const fitter = new FeatureFitter(fitColumns, settings.features);
    for await (const batch of rows.read(columns)) fitter.add(batch, splitOf);
    return fitter.state();
  };
  const fitter = new FeatureFitter(fitColumns, settings.features);
  // A plan has a pass of its own. The rest of the fit needs the rows for the label and slices alone.
  const readsLabel = fitColumns.label.kind === "class" || settings.features.standardizeLabel === true;
  if (fitColumns.features.length > 0 || readsLabel || fitColumns.slices.length > 0) {
    for await (const state of await rounds.run("fit", groups, fitGroup)) fitter.merge(state);
  }
  const trainingRows = manifest.split.indexes.train.rows;
  const parts = { rounds, parts: groups, open: openPart };
  const fitted: FittedFeatures = plan
    ? {
        ...fitter.finish(),
        transform: transformOf(await fitPlanOnRows(plan, manifest.schema, trainingRows, parts)),
      }
    : fitter.finish();

  const planned = new Set(plan ? sourceColumnsOf(plan) : []);
  const read = manifest.schema.filter((column) => planned.has(column.name) || columns.includes(column));
  const encodeGroup = async (group: ShardGroup): Promise<EncodedShards> => {
    const { rows, splitOf } = await open(group);
    const batches = rows.read(plan ? read : columns);
    return encodeRows(batches, group.firstRow, splitOf, { fitted, manifest, objects, shardBytes: input.shardBytes });
  };
  const shards: Record<SplitName, FeatureShard[]> = { train: [], validation: [], test: [] };
  for await (const encoded of await rounds.run("encode", groups, encodeGroup)) {
    for (const split of splitNames) shards[split].push(...encoded[split]);
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

/** Encodes rows into shards of their splits, in order, and stores them. @param firstRow number of the first row */
async function encodeRows(
  batches: AsyncIterable<ColumnBatch>,
  firstRow: number,
  splitOf: Uint8Array,
  {
    fitted,
    manifest,
    objects,
    shardBytes,
  }: {
    readonly fitted: FittedFeatures;
    readonly manifest: DatasetManifest;
    readonly objects: Pick<ObjectStore, "putContent">;
    readonly shardBytes: number | undefined;
  },
): Promise<EncodedShards> {
  const counts = new Float64Array(splitNames.length);
  for (const split of splitOf) counts[split]! += 1;
  const encoders = splitNames.map(
    (split, index) =>
      new ShardEncoder(fitted, manifest.schema, {
        rows: counts[index]!,
        withSlices: split === "test",
        outOfFold: split === "train",
        shardBytes,
      }),
  );
  const shards: Record<SplitName, FeatureShard[]> = { train: [], validation: [], test: [] };
  for await (const batch of batches) {
    const all = Uint32Array.from({ length: batch.rows }, (_, row) => row);
    for (const [index, split] of splitNames.entries()) {
      const splitRows = all.filter((row) => splitOf[batch.firstRow - firstRow + row] === index);
      for (const shard of encoders[index]!.add(batch, splitRows)) {
        const { sha256, bytes } = await objects.putContent(shard.bytes);
        shards[split].push({ sha256, bytes, rows: shard.rows });
      }
    }
  }
  return shards;
}

function columnsOf({ features, label, slices }: FitColumns): readonly ColumnSchema[] {
  const all = [...features.map(({ column }) => column), label.column, ...slices];
  return [...new Map(all.map((column) => [column.name, column])).values()];
}

/** @throws InvalidInputError if no category of the training rows is frequent enough */
function transformOf(plan: FittedPlan): FeatureTransform {
  const transform = plannedTransform(plan);
  if (transform.width > 0) return transform;
  const rule = "must make a feature, but no category of the training rows has minCount rows; lower it";
  throw new InvalidInputError("the plan makes no feature", [{ path: "features.plan", rule }]);
}
