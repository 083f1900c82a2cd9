import type { SplitName } from "../../core/datasets/shapes";
import { type DecodedShard, decodeFeatureShard } from "../../core/features/encoding";
import type { FeatureManifest, FeatureShard } from "../../core/features/shapes";
import { createBatch } from "./direct-feed";
import type { Feed, SplitBlocks } from "./feed";
import { windowedOrder } from "./row-order";
import { createSampler, type SamplerOptions } from "./sampler";
import type { ShardCache } from "./shard-cache";

/** Returns the first row of each shard, and the row after the last. */
function startsOf(shardRows: readonly number[]): readonly number[] {
  const starts = [0];
  for (const rows of shardRows) starts.push(starts.at(-1)! + rows);
  return starts;
}

function shardAt(starts: readonly number[], row: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (starts[middle]! <= row) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Feeds from the shards of one window while it fetches the next; the step alone determines the window. */
export function createWindowedFeed(
  manifest: FeatureManifest,
  options: SamplerOptions & { readonly shardRows: readonly number[] },
  cache: ShardCache,
  sparseEntries?: number,
): Feed {
  const { seed, shardRows, batchSize } = options;
  const sampler = createSampler(options);
  const order = windowedOrder(seed, shardRows);
  const starts = startsOf(shardRows);
  const shelf = createShardShelf(manifest.splits.train.shards, manifest, cache);
  const { width } = manifest.transform;
  const rows = sampler.rowsPerMicroBatch;
  const indexes = new Uint32Array(rows);
  const labels = manifest.label.kind === "class" ? new Int32Array(rows) : new Float32Array(rows);
  const batch = createBatch(rows, width, labels, sparseEntries);
  const { inputs, sparse } = batch;

  return {
    async microBatch(step, index) {
      // The step determines the shards, so they are the same for all micro-batches of this rank.
      const { epoch, stepInEpoch } = sampler.position(step);
      const first = order.windowAt(epoch, stepInEpoch * batchSize);
      const last = order.windowAt(epoch, Math.min(options.rows, (stepInEpoch + 1) * batchSize) - 1);
      const now: number[] = [...order.shardsOf(first)];
      for (let window = first; window.index !== last.index; ) {
        window = order.next(window);
        now.push(...order.shardsOf(window));
      }
      const held = await shelf.hold(now, order.shardsOf(order.next(last)));

      sampler.rowsOf(step, index, indexes);
      if (sparse) {
        for (const [shard, decoded] of held) decoded.gatherSparse(indexes, starts[shard]!, sparse, labels);
        return batch;
      }
      for (let i = 0; i < rows; i += 1) {
        const shard = shardAt(starts, indexes[i]!);
        const decoded = held.get(shard)!;
        const local = indexes[i]! - starts[shard]!;
        decoded.writeRow(local, inputs, i * width);
        labels[i] = decoded.labelAt(local);
      }
      return batch;
    },
    close: async () => undefined,
  };
}

/** Reads a split too large for memory block by block: the shards of a block, and the next one. */
export function createWindowedBlocks(
  manifest: FeatureManifest,
  split: SplitName,
  cache: ShardCache,
  blockRows: number,
): SplitBlocks {
  const { rows: total, shards } = manifest.splits[split];
  const starts = startsOf(shards.map(({ rows }) => rows));
  const shelf = createShardShelf(shards, manifest, cache);
  const { width } = manifest.transform;
  const inputs = new Float32Array(blockRows * width);
  const labels = manifest.label.kind === "class" ? new Int32Array(blockRows) : new Float32Array(blockRows);
  return {
    count: Math.ceil(total / blockRows),
    async block(index) {
      const first = index * blockRows;
      const rows = Math.min(blockRows, total - first);
      const firstShard = shardAt(starts, first);
      const lastShard = shardAt(starts, first + rows - 1);
      const now = Array.from({ length: lastShard - firstShard + 1 }, (_, i) => firstShard + i);
      const held = await shelf.hold(now, lastShard + 1 < shards.length ? [lastShard + 1] : []);
      for (let i = 0; i < rows; i += 1) {
        const shard = shardAt(starts, first + i);
        const decoded = held.get(shard)!;
        decoded.writeRow(first + i - starts[shard]!, inputs, i * width);
        labels[i] = decoded.labelAt(first + i - starts[shard]!);
      }
      return { inputs: inputs.subarray(0, rows * width), labels: labels.subarray(0, rows), rows };
    },
  };
}

/** Some of a split's shards in memory: those being read, and the next ones. */
interface ShardShelf {
  /** Resolves with the shards once they are in memory. Fetches missing ones, and releases all that are in neither list. */
  hold(now: readonly number[], next: readonly number[]): Promise<ReadonlyMap<number, DecodedShard>>;
}

function createShardShelf(
  shards: readonly FeatureShard[],
  manifest: Pick<FeatureManifest, "transform" | "label">,
  cache: ShardCache,
): ShardShelf {
  const coming = new Map<number, Promise<DecodedShard>>();
  const here = new Map<number, DecodedShard>();

  const fetch = (shard: number): Promise<DecodedShard> => {
    let decoded = coming.get(shard);
    if (decoded === undefined) {
      decoded = cache.load(shards[shard]!).then((bytes) => decodeFeatureShard(bytes, manifest));
      coming.set(shard, decoded);
      decoded.then(
        (loaded) => {
          if (coming.get(shard) === decoded) here.set(shard, loaded);
        },
        () => coming.delete(shard), // the next request tries again
      );
    }
    return decoded;
  };

  return {
    async hold(now, next) {
      for (const shard of coming.keys()) {
        if (now.includes(shard) || next.includes(shard)) continue;
        coming.delete(shard);
        here.delete(shard);
      }
      const wanted = now.filter((shard) => !here.has(shard)).map(fetch);
      if (wanted.length > 0) await Promise.all(wanted);
      for (const shard of next) fetch(shard);
      return here;
    },
  };
}
