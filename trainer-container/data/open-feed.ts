import { existsSync } from "node:fs";
import path from "node:path";
import type { SplitName } from "../../core/datasets/shapes";
import type { FeatureManifest } from "../../core/features/shapes";
import { sparseEntries } from "../../core/features/sparse";
import { createDirectFeed, createSplitBlocks } from "./direct-feed";
import { loadFeatureSplit } from "./feature-split";
import type { Feed, SplitBlocks } from "./feed";
import { createPrefetchFeed } from "./prefetch-feed";
import { windowedShards } from "./row-order";
import { createSampler, type SamplerOptions } from "./sampler";
import type { ShardCache } from "./shard-cache";
import { createWindowedBlocks, createWindowedFeed } from "./windowed-feed";

/**
 * Smaller micro-batches are gathered while sums are sent (0.2 ms for 1 MiB); a thread's hand-overs would cost as much.
 */
const worthAThreadBytes = 1024 * 1024;

interface FeedOptions {
  /** Whether the model takes sparse rows. They are used if the features make it worthwhile. */
  readonly takesSparse?: boolean;
  readonly script?: string;
}

/**
 * Opens the training split's feed: windowed, in memory on a thread, or on this one (small or sparse). The bits are the
 * same.
 */
export async function openFeed(
  manifest: FeatureManifest,
  sampler: SamplerOptions,
  cache: ShardCache,
  { takesSparse = false, script = path.join(__dirname, "prefetch-worker.js") }: FeedOptions = {},
): Promise<{ readonly feed: Feed; readonly kind: "windowed" | "prefetching" | "direct" }> {
  const { shardRows } = sampler;
  const entries = takesSparse ? sparseEntries(manifest.transform) : undefined;
  if (shardRows !== undefined) {
    return { feed: createWindowedFeed(manifest, { ...sampler, shardRows }, cache, entries), kind: "windowed" };
  }
  const rows = sampler.batchSize / sampler.microBatches;
  const { width } = manifest.transform;
  if (
    entries !== undefined ||
    rows * width * Float32Array.BYTES_PER_ELEMENT < worthAThreadBytes ||
    !existsSync(script)
  ) {
    const split = await loadFeatureSplit(manifest, "train", cache);
    return { feed: createDirectFeed(split, createSampler(sampler), entries), kind: "direct" };
  }
  const shards: Uint8Array<ArrayBuffer>[] = [];
  for (const shard of manifest.splits.train.shards) shards.push(ownMemory(await cache.load(shard)));
  const { transform, label } = manifest;
  const feed = createPrefetchFeed(script, { manifest: { transform, label }, sampler, shards }, () => ({
    inputs: new Float32Array(rows * width),
    labels: label.kind === "class" ? new Int32Array(rows) : new Float32Array(rows),
  }));
  return { feed, kind: "prefetching" };
}

/** Node reads small files into a shared pool, which cannot move to another thread. */
function ownMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const alone = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  return alone && bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

/** Opens a split to score it: completely in memory if it fits, otherwise shard by shard, with the same rows and blocks. */
export async function openSplit(
  manifest: FeatureManifest,
  split: SplitName,
  cache: ShardCache,
  blockRows: number,
): Promise<SplitBlocks> {
  if (windowedShards(manifest.splits[split].shards) !== undefined) {
    return createWindowedBlocks(manifest, split, cache, blockRows);
  }
  return createSplitBlocks(await loadFeatureSplit(manifest, split, cache), blockRows);
}
