import fc from "fast-check";
import { keyedPermutation, windowedOrder, windowedShards } from "../../../trainer-container/data/row-order";
import { createSampler, type SamplerOptions } from "../../../trainer-container/data/sampler";

const valuesOf = (size: number, key: string) => {
  const permutation = keyedPermutation(size, key);
  return Array.from({ length: size }, (_, index) => permutation.at(index));
};

describe("keyedPermutation", () => {
  it("takes each value exactly once, whatever size and key", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), fc.string(), (size, key) => {
        const seen = new Set(valuesOf(size, key));
        return seen.size === size && [...seen].every((value) => value >= 0 && value < size);
      }),
      { numRuns: 60, seed: 7 },
    );
  });

  it.each([2 ** 31, 2 ** 31 + 12_345, 2 ** 32])("stays inside [0, %i), near both ends", (size) => {
    const permutation = keyedPermutation(size, "wide");
    const indexes = [...Array(200).keys()].flatMap((index) => [index, size - 1 - index]);
    const values = indexes.map((index) => permutation.at(index));
    expect(new Set(values).size).toBe(indexes.length);
    expect(values.every((value) => Number.isInteger(value) && value >= 0 && value < size)).toBe(true);
  });

  // Chi-square against the uniform distribution, 5 standard deviations above its mean: seeds are fixed, so this never flickers.
  it.each([2, 3, 5, 8, 13])("sends each of %i elements everywhere equally often", (size) => {
    const draws = 1_500;
    const counts = Array.from({ length: size }, () => new Array<number>(size).fill(0));
    for (let key = 0; key < draws; key += 1) {
      valuesOf(size, `key ${key}`).forEach((value, index) => {
        counts[index]![value]! += 1;
      });
    }
    const expected = draws / size;
    for (const row of counts) {
      const chiSquare = row.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
      expect(chiSquare).toBeLessThan(size - 1 + 5 * Math.sqrt(2 * (size - 1)));
    }
  });

  it("leaves no trace of the original order: neighbours and places are uncorrelated", () => {
    const size = 50_000;
    const values = valuesOf(size, "digits");
    const mean = (size - 1) / 2;
    const variance = (size * size - 1) / 12;
    const correlation = (pairs: readonly (readonly [number, number])[]) =>
      pairs.reduce((sum, [x, y]) => sum + (x - mean) * (y - mean), 0) / (pairs.length * variance);
    const fiveSigma = 5 / Math.sqrt(size);
    expect(Math.abs(correlation(values.map((value, index) => [index, value])))).toBeLessThan(fiveSigma);
    expect(Math.abs(correlation(values.slice(1).map((value, index) => [values[index]!, value])))).toBeLessThan(
      fiveSigma,
    );
  });

  it.each([0, -1, 1.5, 2 ** 32 + 1, Number.NaN])("refuses a size of %d", (size) => {
    expect(() => keyedPermutation(size, "key")).toThrow(`size is ${size}`);
  });
});

describe("a range of it", () => {
  it.each([
    [1, 0, 1],
    [7, 3, 4],
    [1_000, 17, 333],
    [65_537, 65_000, 537],
    [2 ** 32, 2 ** 32 - 9, 9],
  ])("of %i elements from %i on is what each of the %i gives", (size, first, length) => {
    const permutation = keyedPermutation(size, "range");
    const into = new Uint32Array(length);
    permutation.range(first, into);
    expect([...into]).toEqual(Array.from({ length }, (_, i) => permutation.at(first + i)));
  });
});

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

const stepRows = (options: SamplerOptions, step: number, sampler = createSampler(options)) => {
  const into = new Uint32Array(sampler.rowsPerMicroBatch);
  return Array.from({ length: options.microBatches }, (_, microBatch) => {
    sampler.rowsOf(step, microBatch, into);
    return [...into];
  }).flat();
};

const arbitraryOptions = fc
  .record({
    seed: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    rows: fc.integer({ min: 1, max: 600 }),
    microBatches: fc.integer({ min: 1, max: 8 }),
    rowsPerMicroBatch: fc.integer({ min: 1, max: 12 }),
  })
  .chain(({ rowsPerMicroBatch, rows, ...rest }) =>
    fc.boolean().map((windowed) => ({
      ...{ ...rest, rows, batchSize: rowsPerMicroBatch * rest.microBatches },
      ...(windowed && rows > 9 && { shardRows: [rows - 9, 4, 5] }),
    })),
  );

describe("createSampler", () => {
  it("shows each row at most once an epoch, all but the remainder", () => {
    fc.assert(
      fc.property(arbitraryOptions, fc.integer({ min: 0, max: 3 }), (options, epoch) => {
        fc.pre(options.rows >= options.batchSize);
        const sampler = createSampler(options);
        const first = epoch * sampler.stepsPerEpoch;
        const seen = Array.from({ length: sampler.stepsPerEpoch }, (_, i) =>
          stepRows(options, first + i, sampler),
        ).flat();
        return (
          new Set(seen).size === seen.length &&
          seen.length === options.rows - (options.rows % options.batchSize) &&
          seen.every((row) => row < options.rows)
        );
      }),
      { numRuns: 100, seed: 3 },
    );
  });

  it("depends on seed, epoch and step alone: a fresh sampler gives the same rows anywhere", () => {
    fc.assert(
      fc.property(arbitraryOptions, fc.array(fc.nat(40), { minLength: 1, maxLength: 6 }), (options, steps) => {
        const travelled = createSampler(options);
        return steps.every(
          (step) => JSON.stringify(stepRows(options, step, travelled)) === JSON.stringify(stepRows(options, step)),
        );
      }),
      { numRuns: 60, seed: 4 },
    );
  });

  it("orders each epoch and each seed differently", () => {
    const options = { seed: 1, rows: 100, batchSize: 100, microBatches: 4 };
    const orders = [
      stepRows(options, 0),
      stepRows(options, 1),
      stepRows(options, 2),
      stepRows({ ...options, seed: 2 }, 0),
    ].map((rows) => rows.join());
    expect(new Set(orders).size).toBe(4);
  });

  it("leaves another remainder out of each epoch", () => {
    const options = { seed: 5, rows: 10, batchSize: 4, microBatches: 2 };
    const left = [0, 1, 2, 3, 4, 5].map((epoch) => {
      const seen = new Set([...stepRows(options, 2 * epoch), ...stepRows(options, 2 * epoch + 1)]);
      return [...Array(10).keys()].filter((row) => !seen.has(row)).join();
    });
    expect(left.every((rows) => rows.split(",").length === 2)).toBe(true);
    expect(new Set(left).size).toBeGreaterThan(1);
  });

  it("begins the order again where the split is smaller than a batch", () => {
    const rows = stepRows({ seed: 9, rows: 3, batchSize: 8, microBatches: 2 }, 0);
    expect(new Set(rows.slice(0, 3)).size).toBe(3);
    expect(rows.slice(3, 6)).toEqual(rows.slice(0, 3));
    expect(rows.slice(6)).toEqual(rows.slice(0, 2));
    expect(createSampler({ seed: 9, rows: 3, batchSize: 8, microBatches: 2 }).stepsPerEpoch).toBe(1);
  });

  it("counts epochs and steps from the run's step", () => {
    const sampler = createSampler({ seed: 0, rows: 25, batchSize: 8, microBatches: 1 });
    expect(sampler.stepsPerEpoch).toBe(3);
    expect(sampler.position(0)).toEqual({ epoch: 0, stepInEpoch: 0 });
    expect(sampler.position(7)).toEqual({ epoch: 2, stepInEpoch: 1 });
  });

  it("refuses a batch that micro-batches do not divide, and an empty split", () => {
    expect(() => createSampler({ seed: 0, rows: 9, batchSize: 9, microBatches: 2 })).toThrow("multiple of the 2");
    expect(() => createSampler({ seed: 0, rows: 0, batchSize: 2, microBatches: 2 })).toThrow("empty");
  });
});
