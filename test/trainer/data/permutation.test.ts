import fc from "fast-check";
import { keyedPermutation } from "../../../trainer-container/data/row-order";

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

  it("is a function of size and key", () => {
    expect(valuesOf(1_000, "a")).toEqual(valuesOf(1_000, "a"));
    expect(valuesOf(1_000, "a")).not.toEqual(valuesOf(1_000, "b"));
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
    [2, 0, 2],
    [7, 3, 4],
    [100, 0, 100],
    [1_000, 17, 333],
    [65_537, 65_000, 537],
    [2 ** 31 + 5, 2 ** 31 - 10, 15],
    [2 ** 32, 2 ** 32 - 9, 9],
  ])("of %i elements from %i on is what each of the %i gives", (size, first, length) => {
    const permutation = keyedPermutation(size, "range");
    const into = new Uint32Array(length);
    permutation.range(first, into);
    expect([...into]).toEqual(Array.from({ length }, (_, i) => permutation.at(first + i)));
  });
});
