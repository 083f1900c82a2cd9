import fc from "fast-check";
import { windowedOrder, windowedShards } from "../../../trainer-container/data/row-order";
import { createSampler } from "../../../trainer-container/data/sampler";

const shardSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 3, maxLength: 9 });
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const epochOf = (shardRows: readonly number[], seed: number, epoch: number) => {
  const order = windowedOrder(seed, shardRows);
  return Array.from({ length: sum(shardRows) }, (_, position) => order.at(epoch, position));
};

describe("windowedShards", () => {
  const shards = [10, 20, 30].map((rows) => ({ rows, bytes: rows * 100 }));

  it("are those of a split larger than the limit", () => {
    expect(windowedShards(shards, 5_999)).toEqual([10, 20, 30]);
  });

  it("are none where the split fits, or where a window holds all of it anyway", () => {
    expect(windowedShards(shards, 6_000)).toBeUndefined();
    expect(windowedShards(shards.slice(1), 10)).toBeUndefined();
    expect(windowedShards([])).toBeUndefined();
  });
});

describe("windowedOrder", () => {
  it("gives every row once an epoch, from two shards at a time", () => {
    fc.assert(
      fc.property(shardSizes, fc.nat(1_000), fc.nat(3), (shardRows, seed, epoch) => {
        const rows = epochOf(shardRows, seed, epoch);
        expect([...rows].sort((a, b) => a - b)).toEqual(rows.map((_, index) => index));

        const order = windowedOrder(seed, shardRows);
        const starts = shardRows.map((_, shard) => sum(shardRows.slice(0, shard)));
        rows.forEach((row, position) => {
          const window = order.windowAt(epoch, position);
          const shard = starts.findLastIndex((start) => start <= row);
          expect(order.shardsOf(window)).toContain(shard);
          expect(order.shardsOf(window).length).toBeLessThanOrEqual(2);
        });
      }),
      { numRuns: 40, seed: 11 },
    );
  });

  it("is another one each epoch and for each seed", () => {
    const shardRows = [30, 30, 30, 30];
    const orders = [epochOf(shardRows, 1, 0), epochOf(shardRows, 1, 1), epochOf(shardRows, 2, 0)].map(String);
    expect(new Set(orders).size).toBe(3);
  });

  it("walks through the windows of an epoch into the next", () => {
    const order = windowedOrder(5, [4, 4, 4]);
    const windows = [order.windowAt(2, 0)];
    for (let i = 0; i < 2; i += 1) windows.push(order.next(windows.at(-1)!));
    expect(windows).toEqual([
      { epoch: 2, index: 0 },
      { epoch: 2, index: 1 },
      { epoch: 3, index: 0 },
    ]);
    expect(
      windows
        .slice(0, 2)
        .flatMap((window) => order.shardsOf(window))
        .sort(),
    ).toEqual([0, 1, 2]);
  });

  it("refuses a place beyond the epoch", () => {
    expect(() => windowedOrder(0, [1, 1, 1]).at(0, 3)).toThrow();
  });
});

describe("a sampler over a windowed order", () => {
  it("shows each row once an epoch, and the same rows to a fresh sampler anywhere", () => {
    const options = { seed: 4, rows: 60, batchSize: 12, microBatches: 3, shardRows: [20, 25, 15] };
    const sampler = createSampler(options);
    const seen: number[] = [];
    for (let step = sampler.stepsPerEpoch; step < 2 * sampler.stepsPerEpoch; step += 1) {
      for (let microBatch = 0; microBatch < 3; microBatch += 1) {
        const [mine, fresh] = [new Uint32Array(4), new Uint32Array(4)];
        sampler.rowsOf(step, microBatch, mine);
        createSampler(options).rowsOf(step, microBatch, fresh);
        expect(fresh).toEqual(mine);
        seen.push(...mine);
      }
    }
    expect(new Set(seen).size).toBe(60);
  });
});
