import type { FeatureManifest } from "../../core/features/shapes";
import { createValidationBlocks } from "./direct-feed";
import { loadFeatureSplit } from "./feature-split";
import type { ValidationBlocks } from "./feed";
import { windowedShards } from "./row-order";
import type { ShardCache } from "./shard-cache";
import { createWindowedValidation } from "./windowed-feed";

/** Opens the validation split: completely in memory if it fits, otherwise shard by shard, with the same rows and blocks. */
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
