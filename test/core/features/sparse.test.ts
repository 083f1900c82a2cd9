import { CorruptShardError } from "../../../core/features/errors";
import type { FeatureTransform } from "../../../core/features/shapes";
import { createSparseInputs, sparseEntries, sparseGatherer } from "../../../core/features/sparse";

/** distance | carrier, 30 one-hots | two pixels. */
const transform: FeatureTransform = {
  outputs: [
    { kind: "numeric", column: "distance", offset: 0, width: 1, source: 0, mean: 0, deviation: 1 },
    { kind: "one-hot", column: "carrier", offset: 1, width: 30, source: 0, vocabulary: [] },
    { kind: "numeric", column: "pixels", offset: 31, width: 2, source: 1, mean: 0, deviation: 1 },
  ],
  width: 33,
  shape: [33],
};

describe("sparseEntries", () => {
  it("counts a one-hot as one and a number as one", () => {
    expect(sparseEntries(transform)).toBe(4);
  });

  it.each([
    ["exactly eight elements a pair", 32, 4],
    ["fewer", 31, undefined],
  ])("%s", (_, width, expected) => {
    expect(sparseEntries({ ...transform, width })).toBe(expected);
  });

  it("leaves images dense", () => {
    const pixels = { kind: "numeric", column: "x", offset: 0, width: 784, source: 0, mean: 0, deviation: 1 } as const;
    expect(sparseEntries({ outputs: [pixels], width: 784, shape: [28, 28, 1] })).toBeUndefined();
  });
});

describe("sparseGatherer", () => {
  const gather = sparseGatherer(transform);
  /** Rows 10, 11 and 12 of a split. */
  const shard = {
    rows: 3,
    numeric: Float32Array.of(0.5, -2, 3, 6, 7, 8, 1, 1, 1),
    numericWidth: 3,
    codes: Int32Array.of(29, -1, 0),
    codesWidth: 1,
    label: Int32Array.of(4, 5, 6),
    first: 10,
  };

  it("writes one-hots, then numbers, of its own rows only; an unknown value is a zero", () => {
    const into = createSparseInputs(4, 3);
    const labels = new Int32Array(3);
    gather(shard, Uint32Array.of(11, 9, 10), into, labels);
    expect([...into.positions]).toEqual([1, 0, 31, 32, 0, 0, 0, 0, 30, 0, 31, 32]);
    expect([...into.values]).toEqual([0, 6, 7, 8, 0, 0, 0, 0, 1, 0.5, -2, 3]);
    expect([...labels]).toEqual([5, 0, 4]);
  });

  it("refuses a code past the vocabulary's end", () => {
    const damaged = { ...shard, codes: Int32Array.of(0, 0, 30) };
    const act = () => gather(damaged, Uint32Array.of(12), createSparseInputs(4, 1), new Int32Array(1));
    expect(act).toThrow(CorruptShardError);
    expect(act).toThrow("a code of column carrier is 30, but its vocabulary has 30 values");
  });
});
