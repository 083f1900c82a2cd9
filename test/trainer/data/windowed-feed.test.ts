import type { FeatureManifest, FeatureShard } from "../../../core/features/shapes";
import { createSplitBlocks } from "../../../trainer-container/data/direct-feed";
import { loadFeatureSplit } from "../../../trainer-container/data/feature-split";
import { openFeed } from "../../../trainer-container/data/open-feed";
import { createSampler } from "../../../trainer-container/data/sampler";
import type { ShardCache } from "../../../trainer-container/data/shard-cache";
import { createWindowedBlocks } from "../../../trainer-container/data/windowed-feed";
import { encodeRows, manifestOf, numbersOf } from "../../support/one-column";

const shardRows = [7, 5, 6, 4, 8];
const rows = 30;
const transform = numbersOf(2);

/** Row r is [r, r / 2], its label r % 3. */
function splitOf(): { readonly manifest: FeatureManifest; readonly bytes: ReadonlyMap<string, Uint8Array> } {
  const bytes = new Map<string, Uint8Array>();
  let first = 0;
  const shards = shardRows.map((count, shard): FeatureShard => {
    const numeric = Float32Array.from({ length: count * 2 }, (_, i) => (first + (i >> 1)) / (1 + (i & 1)));
    const label = Int32Array.from({ length: count }, (_, i) => (first + i) % 3);
    bytes.set(`${shard}`, encodeRows(transform, label, numeric));
    first += count;
    return { sha256: `${shard}`, bytes: 1, rows: count };
  });
  return { manifest: manifestOf(transform, [0, 1, 2], { rows, shards }), bytes };
}

/** Counts fetches; `broken` shards fail as often as the map states. */
function openCache(broken = new Map<string, number>()) {
  const { manifest, bytes } = splitOf();
  const fetched: string[] = [];
  const cache: ShardCache = {
    load: async ({ sha256 }) => {
      fetched.push(sha256);
      const failures = broken.get(sha256) ?? 0;
      if (failures > 0) {
        broken.set(sha256, failures - 1);
        throw new Error(`shard ${sha256} is away`);
      }
      return bytes.get(sha256)!;
    },
  };
  return { manifest, cache, fetched };
}

const options = { seed: 2, rows, batchSize: 6, microBatches: 2, shardRows };
const leaves = { first: 0, end: 2 };

describe("the windowed feed", () => {
  it("gives each micro-batch the sampler's rows, wherever one begins", async () => {
    const sampler = createSampler(options);
    for (const steps of [
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
      [7, 3, 12],
    ]) {
      const { manifest, cache } = openCache();
      const { feed, kind } = await openFeed(manifest, options, cache);
      expect(kind).toBe("windowed");
      for (const step of steps) {
        for (const index of [0, 1]) {
          const expected = new Uint32Array(3);
          sampler.rowsOf(step, index, expected);
          const batch = await feed.microBatch(step, index, leaves);
          expect([...batch.inputs]).toEqual([...expected].flatMap((row) => [row, row / 2]));
          expect([...batch.labels]).toEqual([...expected].map((row) => row % 3));
        }
      }
      await feed.close();
    }
  });

  it("gives the same rows sparse, where model and features make that worth it", async () => {
    const { manifest, cache } = openCache();
    const wide = { ...manifest, transform: { ...transform, width: 16, shape: [16] } };
    const [dense, sparse] = await Promise.all(
      [false, true].map((takesSparse) => openFeed(wide, options, cache, { takesSparse })),
    );
    for (const step of [0, 3, 7]) {
      const expected = await dense!.feed.microBatch(step, 1, leaves);
      const batch = await sparse!.feed.microBatch(step, 1, leaves);
      expect([...batch.sparse!.positions]).toEqual([0, 1, 0, 1, 0, 1]);
      const numbers = [...expected.inputs].filter((_, i) => i % 16 < 2);
      expect([[...batch.sparse!.values], [...batch.labels]]).toEqual([numbers, [...expected.labels]]);
    }
    const narrow = await openFeed(manifest, options, cache, { takesSparse: true });
    expect((await narrow.feed.microBatch(0, 0, leaves)).sparse).toBeUndefined();
  });

  it("reads each shard once an epoch, the next window's ahead of need", async () => {
    const { manifest, cache, fetched } = openCache();
    const { feed } = await openFeed(manifest, options, cache);
    await feed.microBatch(0, 0, leaves);
    expect(fetched.length).toBe(4); // two shards of this window, two of the next
    for (let step = 0; step < 5; step += 1) for (const index of [0, 1]) await feed.microBatch(step, index, leaves);
    expect([...fetched.slice(0, 5)].sort()).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("reports what failed to load, and tries again on the next request", async () => {
    const all = new Map(shardRows.map((_, shard) => [`${shard}`, 1]));
    const { manifest, cache } = openCache(all);
    const { feed } = await openFeed(manifest, options, cache);
    await expect(feed.microBatch(0, 0, leaves)).rejects.toThrow(/shard \d is away/);
    expect((await feed.microBatch(0, 0, leaves)).rows).toBe(3);
  });
});

describe("createWindowedBlocks", () => {
  it("gives the blocks of the split in memory", async () => {
    const { manifest, cache } = openCache();
    const whole = createSplitBlocks(await loadFeatureSplit(manifest, "validation", cache), 8);
    const windowed = createWindowedBlocks(manifest, "validation", cache, 8);
    expect(windowed.count).toBe(whole.count);
    for (let index = 0; index < whole.count; index += 1) {
      const [a, b] = [await whole.block(index), await windowed.block(index)];
      expect([b.rows, [...b.inputs], [...b.labels]]).toEqual([a.rows, [...a.inputs], [...a.labels]]);
    }
  });
});
