import { existsSync } from "node:fs";
import path from "node:path";
import type { FeatureManifest } from "../../core/features/manifest";
import { sparseEntries } from "../../core/features/sparse";
import { createDirectFeed } from "./direct-feed";
import { loadFeatureSplit } from "./feature-split";
import type { Feed } from "./feed";
import { createPrefetchFeed } from "./prefetch-feed";
import { createSampler, type SamplerOptions } from "./sampler";
import type { ShardCache } from "./shard-cache";
import { createWindowedFeed } from "./windowed-feed";

/**
 * Below this, gathering a microshard (about 0.2 ms for 1 MiB) is done while the sums of the step before are on their way: a thread of its own
 * would cost as much in hand-overs, and on a host whose cores all compute it starves until this one waits.
 */
const worthAThreadBytes = 1024 * 1024;

export interface FeedOptions {
  /** Whether the model does; rows are then sparse where the features make that worth it. */
  readonly takesSparse?: boolean;
  /** Of the thread that gathers ahead. */
  readonly script?: string;
}

/**
 * The training split's feed: shard by shard where its order is windowed; else from memory, in a thread of its own where microshards are large,
 * or on this one. Same rows, same bits. Sparse rows are a few bytes, and always gathered on this one.
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
  const rows = sampler.batchSize / sampler.microshards;
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
