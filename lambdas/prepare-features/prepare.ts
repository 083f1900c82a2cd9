import { createShardSource } from "../../adapters/duckdb/shard-source";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import type { DatasetManifest } from "../../core/datasets/shapes";
import type { FeaturesOutput } from "../../core/features/materialize";
import { type FeatureSettings, materializeFeatures } from "../../core/features/materialize";
import type { ObjectStore } from "../../core/ports";

/** Materialises the features of a dataset version; see `materializeFeatures`. */
export function prepareFeatures(input: {
  readonly manifest: DatasetManifest;
  readonly job: FeatureSettings;
  readonly objects: ObjectStore;
  readonly inputHash: string;
  readonly shardBytes?: number;
}): Promise<FeaturesOutput> {
  const { manifest, job, objects, inputHash, shardBytes } = input;
  return withDuckDb((session) =>
    materializeFeatures({
      manifest,
      settings: job,
      rows: createShardSource(session, objects, manifest),
      objects,
      inputHash,
      shardBytes,
    }),
  );
}
