import { decodeFeatureShard } from "../../../core/features/encoding";
import type { FeatureManifest } from "../../../core/features/shapes";
import type { SparseInputs } from "../../../core/features/sparse";
import { createDirectFeed, createSplitBlocks } from "../../../trainer-container/data/direct-feed";
import { splitOf } from "../../../trainer-container/data/feature-split";
import { createSampler } from "../../../trainer-container/data/sampler";
import { encodeRows } from "../../support/one-column";

const manifest: Pick<FeatureManifest, "transform" | "label"> = {
  transform: {
    outputs: [
      { kind: "one-hot", column: "c", offset: 0, width: 2, source: 0, vocabulary: ["x", "y"] },
      { kind: "numeric", column: "n", offset: 2, width: 1, source: 0, mean: 0, deviation: 1 },
    ],
    width: 3,
    shape: [3],
  },
  label: { kind: "class", column: "l", classes: [0, 1] },
};

/** Row r has code r % 3 − 1, number r / 4 and label r % 2. */
const shardOf = (first: number, rows: number) => {
  const at = Array.from({ length: rows }, (_, i) => first + i);
  const [label, codes] = [at.map((r) => r % 2), at.map((r) => (r % 3) - 1)].map((each) => Int32Array.from(each));
  const numeric = Float32Array.from(at, (r) => r / 4);
  return decodeFeatureShard(encodeRows(manifest.transform, label!, numeric, codes), manifest);
};
const dense = (r: number) => [r % 3 === 1 ? 1 : 0, r % 3 === 2 ? 1 : 0, r / 4];
const split = splitOf([shardOf(0, 4), shardOf(4, 1), shardOf(5, 5)], manifest);

/** Dense rows of three. */
function unfolded({ entries, positions, values }: SparseInputs, rows: number): number[] {
  const into = new Array<number>(rows * 3).fill(0);
  positions.forEach((position, i) => {
    into[Math.floor(i / entries) * 3 + position]! += values[i]!;
  });
  return into;
}

describe("feature splits", () => {
  it("number rows through the shards and unfold them on request", () => {
    const inputs = new Float32Array(4 * 3).fill(9);
    const labels = split.createLabels(4);
    split.gather(Uint32Array.of(9, 0, 4, 3), inputs, labels);
    expect([...inputs]).toEqual([9, 0, 4, 3].flatMap(dense));
    expect([...labels]).toEqual([1, 0, 0, 1]);
    expect(split.rows).toBe(10);
  });

  it("refuse a row that is not there", () => {
    expect(() => split.gather(Uint32Array.of(10), new Float32Array(3), new Int32Array(1))).toThrow("row 10");
  });

  it("keep values as values", () => {
    const label = { kind: "value", column: "l" } as const;
    expect(splitOf([], { ...manifest, label }).createLabels(2)).toEqual(new Float32Array(2));
  });
});

describe("createDirectFeed", () => {
  it("gives each micro-batch the sampler's rows, sparse on request", async () => {
    const sampler = createSampler({ seed: 1, rows: 10, batchSize: 4, microBatches: 2 });
    const [feed, sparseFeed] = [createDirectFeed(split, sampler), createDirectFeed(split, sampler, 2)];
    const leaves = { first: 0, end: 2 };
    const rows = new Uint32Array(2);
    for (const step of [0, 1, 5]) {
      for (const microBatch of [0, 1]) {
        sampler.rowsOf(step, microBatch, rows);
        const batch = await feed.microBatch(step, microBatch, leaves);
        expect(batch.rows).toBe(2);
        expect([...batch.inputs]).toEqual([...rows].flatMap(dense));
        expect([...batch.labels]).toEqual([...rows].map((row) => row % 2));
        const { inputs, sparse, labels } = await sparseFeed.microBatch(step, microBatch, leaves);
        expect(inputs).toHaveLength(0);
        expect([unfolded(sparse!, 2), labels]).toEqual([[...batch.inputs], batch.labels]);
      }
    }
  });
});

describe("createSplitBlocks", () => {
  it("cuts the split in order, with the rest in the last block", async () => {
    const blocks = createSplitBlocks(split, 4);
    expect(blocks.count).toBe(3);
    const sizes: number[] = [];
    for (const index of [0, 1, 2]) {
      const { inputs, labels, rows } = await blocks.block(index);
      expect([...inputs]).toEqual(Array.from({ length: rows }, (_, i) => dense(index * 4 + i)).flat());
      expect(labels).toHaveLength(rows);
      sizes.push(rows);
    }
    expect(sizes).toEqual([4, 4, 2]);
    expect(createSplitBlocks(splitOf([], manifest), 4).count).toBe(0);
  });
});

describe("gathering ahead", () => {
  const sampler = createSampler({ seed: 1, rows: 10, batchSize: 6, microBatches: 3 });
  const leaves = { first: 1, end: 3 };
  const expected = (step: number, microBatch: number) => {
    const rows = new Uint32Array(2);
    sampler.rowsOf(step, microBatch, rows);
    return [...rows].flatMap(dense);
  };

  function open() {
    const gathered: string[] = [];
    let waiting = false;
    const feed = createDirectFeed(
      {
        ...split,
        gather(...args) {
          gathered.push(waiting ? "waited" : "ahead");
          split.gather(...args);
        },
      },
      sampler,
    );
    const inputs = async (step: number, microBatch: number, range = leaves) => {
      waiting = true;
      const batch = await feed.microBatch(step, microBatch, range);
      waiting = false;
      return [...batch.inputs];
    };
    return { feed, gathered, inputs };
  }
  const turns = () => new Promise((resolve) => setTimeout(resolve, 5));

  it("gives the same rows, without a wait", async () => {
    const { feed, gathered, inputs } = open();
    feed.ahead!(4, leaves);
    while (gathered.length < 2) await turns();
    expect(await inputs(4, 1)).toEqual(expected(4, 1));
    expect(await inputs(4, 2)).toEqual(expected(4, 2));
    expect(gathered).toEqual(["ahead", "ahead"]);
  });

  it("gathers a micro-batch on request if it was not gathered before", async () => {
    const { feed, gathered, inputs } = open();
    feed.ahead!(4, leaves);
    expect(await inputs(4, 1)).toEqual(expected(4, 1));
    await turns();
    expect(await inputs(4, 2)).toEqual(expected(4, 2));
    expect(gathered).toEqual(["waited", "waited"]);
  });

  it("is for nothing where another generation computes other leaves of another step", async () => {
    const { feed, inputs } = open();
    feed.ahead!(4, leaves);
    await turns();
    const other = { first: 0, end: 3 };
    for (const microBatch of [0, 1, 2]) expect(await inputs(3, microBatch, other)).toEqual(expected(3, microBatch));
    for (const microBatch of [0, 1, 2]) expect(await inputs(4, microBatch, other)).toEqual(expected(4, microBatch));
    await feed.close();
  });
});
