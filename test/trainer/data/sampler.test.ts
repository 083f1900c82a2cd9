import fc from "fast-check";
import { createSampler, type SamplerOptions } from "../../../trainer-container/data/sampler";

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
  .map(({ rowsPerMicroBatch, ...rest }) => ({ ...rest, batchSize: rowsPerMicroBatch * rest.microBatches }));

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
