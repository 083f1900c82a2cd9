import type { FeatureManifest } from "../../core/features/manifest";
import { createValidationBlocks } from "./direct-feed";
import { loadFeatureSplit } from "./feature-split";
import type { ValidationBlocks } from "./feed";
import { windowedShards } from "./row-order";
import type { ShardCache } from "./shard-cache";
import { createWindowedValidation } from "./windowed-feed";

/** The validation split: whole in memory where it fits, else shard by shard. The same rows in the same blocks. */
export async function openValidation(
  manifest: FeatureManifest,
  cache: ShardCache,
  blockRows: number,
): Promise<ValidationBlocks> {
  if (windowedShards(manifest.splits.validation.shards) !== undefined) {
    return createWindowedValidation(manifest, cache, blockRows);
  }
  return createValidationBlocks(await loadFeatureSplit(manifest, "validation", cache), blockRows);
}
