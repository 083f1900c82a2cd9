import path from "node:path";
import type { FeatureManifest } from "../../../core/features/shapes";
import type { Feed } from "../../../trainer-container/data/feed";
import { openFeed } from "../../../trainer-container/data/open-feed";
import { createShardCache } from "../../../trainer-container/data/shard-cache";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { bundle } from "../../support/bundle";
import { encodeRows, manifestOf, numbersOf } from "../../support/one-column";
import { temporaryFolder } from "../../support/temporary-folder";

const width = 2_000;
const options = { seed: 3, rows: 700, batchSize: 600, microBatches: 4 }; // 1.2 MB a micro-batch

describe("openFeed", () => {
  const folder = temporaryFolder("prefetch");
  const script = path.join(folder, "prefetch-worker.js");
  const store = createMemoryObjectStore();
  const feeds: Feed[] = [];
  let manifest: FeatureManifest;

  beforeAll(async () => {
    bundle({ entryPoints: ["trainer-container/data/prefetch-worker.ts"], outfile: script });
    const shards = [];
    for (const rows of [300, 400]) {
      const numeric = Float32Array.from({ length: rows * width }, (_, i) => ((i + rows) * 2_654_435_761) % 1_000);
      const label = Int32Array.from({ length: rows }, (_, i) => (i + rows) % 7);
      shards.push({ ...(await store.putContent(encodeRows(numbersOf(width), label, numeric))), rows });
    }
    manifest = manifestOf(numbersOf(width), [0, 1, 2, 3, 4, 5, 6], { rows: 700, shards });
  });

  afterAll(async () => {
    for (const feed of feeds) await feed.close();
  });

  async function open(worker: string, sampler = options) {
    const cache = createShardCache({ store, directory: path.join(folder, "shards"), limitBytes: 1e9 });
    const opened = await openFeed(manifest, sampler, cache, { script: worker });
    feeds.push(opened.feed);
    return opened;
  }

  it("gathers on this thread where micro-batches are small, or where there is no worker's file", async () => {
    expect((await open(script, { ...options, batchSize: 8 })).kind).toBe("direct");
    expect((await open(path.join(folder, "missing.js"))).kind).toBe("direct");
    expect((await open(script)).kind).toBe("prefetching");
  });

  it("gives the same batches from a thread, in order, out of order and when the leaves change", async () => {
    const { feed: prefetching } = await open(script);
    const { feed: direct } = await open("none");
    for (const [step, first, end] of [
      [0, 0, 4],
      [1, 0, 4],
      [2, 1, 3], // another generation
      [3, 1, 3],
      [9, 0, 1], // caught up with others
      [10, 0, 1],
      [10, 0, 1], // lost: again
      [4, 2, 4],
    ] as const) {
      for (let index = first; index < end; index += 1) {
        const expected = await direct.microBatch(step, index, { first, end });
        const batch = await prefetching.microBatch(step, index, { first, end });
        expect(Buffer.from(batch.inputs.slice().buffer).equals(Buffer.from(expected.inputs.slice().buffer))).toBe(true);
        expect([...batch.labels]).toEqual([...expected.labels]);
        expect(batch.rows).toBe(150);
      }
    }
  });

  it("fails where the thread has ended, instead of waiting", async () => {
    const { feed } = await open(script);
    await feed.microBatch(0, 0, { first: 0, end: 1 });
    await feed.close();
    const asking = async () => {
      for (let step = 1; step < 9; step += 1) await feed.microBatch(step, 0, { first: 0, end: 1 });
    };
    await expect(asking()).rejects.toThrow("ended");
  });
});
