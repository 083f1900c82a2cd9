import * as fc from "fast-check";
import { splitNames } from "../../../core/datasets/shapes";
import { assertSplitsFilled, createSplitter, quotasOfMore, splitQuotas } from "../../../core/datasets/split";
import { decodeSplitIndex, encodeSplitIndex, SplitIndexBuilder, splitOfRows } from "../../../core/datasets/split-index";
import { assignGroups, assignTimes } from "../../../core/datasets/whole-split";

const fractions = { train: 0.8, validation: 0.1, test: 0.1 };
const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 3, maxLength: 60 });
const rowsOf = (counts: readonly number[], assigned: readonly string[]) =>
  splitNames.map((split) => counts.reduce((sum, count, i) => sum + (assigned[i] === split ? count : 0), 0));

describe("splits of whole units", () => {
  it("fill every split, and miss a fraction by at most the largest unit", () => {
    fc.assert(
      fc.property(sizes, fc.nat(1_000), (counts, seed) => {
        const total = counts.reduce((sum, count) => sum + count, 0);
        const largest = Math.max(...counts);
        for (const assigned of [assignGroups(seed, fractions, counts), assignTimes(fractions, counts)]) {
          const rows = rowsOf(counts, assigned);
          expect(Math.min(...rows)).toBeGreaterThan(0);
          expect(rows.reduce((sum, count) => sum + count, 0)).toBe(total);
          for (const [i, split] of splitNames.entries()) {
            expect(Math.abs(rows[i]! - total * fractions[split])).toBeLessThanOrEqual(2 * largest);
          }
        }
      }),
    );
  });

  it("take groups by the seed, and times in order", () => {
    const ones = new Array<number>(10).fill(1);
    expect(assignTimes(fractions, ones)).toEqual([...new Array(8).fill("train"), "validation", "test"]);
    expect(assignGroups(1, fractions, ones)).toEqual(assignGroups(1, fractions, ones));
    expect(assignGroups(1, fractions, ones)).not.toEqual(assignGroups(2, fractions, ones));
    expect(rowsOf(ones, assignGroups(1, fractions, ones))).toEqual([8, 1, 1]);
    const held = ["test", "validation"] as const;
    const more = assignGroups(1, fractions, ones, (group) => held[group]);
    expect([more.slice(0, 2), rowsOf(ones, more)]).toEqual([
      ["test", "validation"],
      [8, 1, 1],
    ]);
    expect(rowsOf(ones, assignTimes({ train: 0.7, validation: 0, test: 0.3 }, ones))).toEqual([7, 0, 3]);
  });
});

const eightOneOne = { train: 0.8, validation: 0.1, test: 0.1 };

describe("splitQuotas", () => {
  it.each([
    ["divides exactly", 100, eightOneOne, [80, 10, 10]],
    ["gives the rest to the largest remainders", 15, eightOneOne, [12, 2, 1]],
    ["gives each split a row of a small class", 3, eightOneOne, [1, 1, 1]],
    ["keeps a class of one row for training", 1, eightOneOne, [1, 0, 0]],
    ["leaves a split of fraction 0 empty", 10, { train: 0.9, validation: 0, test: 0.1 }, [9, 0, 1]],
    ["does not lose a row to binary fractions", 10, { train: 0.7, validation: 0.2, test: 0.1 }, [7, 2, 1]],
  ])("%s", (_case, count, fractions, expected) => {
    const quotas = splitQuotas(count, fractions);
    expect(splitNames.map((split) => quotas[split])).toEqual(expected);
  });

  it("brings a class that has rows already to its fractions", () => {
    expect(quotasOfMore(20, eightOneOne, { train: 64, validation: 8, test: 8 })).toEqual({
      train: 16,
      validation: 2,
      test: 2,
    });
    expect(quotasOfMore(5, eightOneOne, { train: 0, validation: 3, test: 2 })).toEqual({
      train: 5,
      validation: 0,
      test: 0,
    });
    fc.assert(
      fc.property(fc.nat(50), fc.nat(50), fc.nat(50), fc.nat(50), (fresh, train, validation, test) => {
        const quotas = quotasOfMore(fresh, eightOneOne, { train, validation, test });
        expect(quotas.train + quotas.validation + quotas.test).toBe(fresh);
        expect(Math.min(quotas.train, quotas.validation, quotas.test)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("always deals out every row", () => {
    fc.assert(
      fc.property(fc.nat(5_000), fc.integer({ min: 1, max: 98 }), fc.integer({ min: 0, max: 100 }), (count, a, b) => {
        const train = a / 100;
        const validation = ((1 - train) * b) / 101;
        const quotas = splitQuotas(count, { train, validation, test: 1 - train - validation });
        expect(quotas.train + quotas.validation + quotas.test).toBe(count);
        expect(Math.min(quotas.train, quotas.validation, quotas.test)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("createSplitter", () => {
  const classes = Array.from({ length: 1_000 }, (_, row) => (row % 10 === 0 ? 1 : 0));
  const deal = (seed: number) => {
    const splitter = createSplitter(seed, eightOneOne, [900, 100]);
    return classes.map((index) => splitter.assign(index));
  };

  it("fills the quotas of each class exactly", () => {
    const splits = deal(7);
    const count = (index: number, split: string) =>
      splits.filter((s, row) => s === split && classes[row] === index).length;
    expect(splitNames.map((split) => count(0, split))).toEqual([720, 90, 90]);
    expect(splitNames.map((split) => count(1, split))).toEqual([80, 10, 10]);
  });

  it("is a function of the seed", () => {
    expect(deal(7)).toEqual(deal(7));
    expect(deal(7)).not.toEqual(deal(8));
  });

  it("favours no place: over many seeds each row is tested about as often as any", () => {
    const tested = new Array<number>(20).fill(0);
    for (let seed = 0; seed < 2_000; seed += 1) {
      const splitter = createSplitter(seed, { train: 0.5, validation: 0, test: 0.5 }, [20]);
      for (let row = 0; row < 20; row += 1) if (splitter.assign(0) === "test") tested[row]! += 1;
    }
    // 2,000 draws of 1/2: deviation 22, so 5 of them is 112.
    for (const count of tested) expect(Math.abs(count - 1_000)).toBeLessThan(112);
  });
});

describe("split index", () => {
  it("is unsigned 32-bit little-endian", () => {
    expect([...encodeSplitIndex(Uint32Array.from([1, 258, 4_294_967_295]))]).toEqual([
      1, 0, 0, 0, 2, 1, 0, 0, 255, 255, 255, 255,
    ]);
    expect([...decodeSplitIndex(encodeSplitIndex(Uint32Array.from([3, 4_294_967_295])))]).toEqual([3, 4_294_967_295]);
  });

  it("grows with its rows", () => {
    const builder = new SplitIndexBuilder();
    for (let row = 0; row < 5_000; row += 1) builder.add("train", row);
    expect(builder.rows("train").length).toBe(5_000);
    expect(builder.rows("train")[4_999]).toBe(4_999);
  });

  const indexes = (train: number[], validation: number[], test: number[]) => ({
    train: Uint32Array.from(train),
    validation: Uint32Array.from(validation),
    test: Uint32Array.from(test),
  });

  it("gives the split of every row", () => {
    expect([...splitOfRows("d", 4, indexes([0, 3], [1], [2]))]).toEqual([0, 1, 2, 0]);
  });

  it.each([
    ["a row in two splits", indexes([0, 1], [1], [2]), /contains row 1, which is also in another split/],
    ["a row behind the end", indexes([0, 1], [2], [3]), /contains row 3, which is after the last row, 2/],
    ["rows out of order", indexes([1, 0], [2], []), /contains row 0, which is out of order/],
    ["a row in no split", indexes([0], [2], []), /row 1 is in no split/],
  ])("refuses %s", (_case, given, message) => {
    expect(() => splitOfRows("d", 3, given)).toThrow(message);
  });

  it("refuses a split without rows, with what would help", () => {
    expect(() => assertSplitsFilled({ train: 2, validation: 1, test: 0 }, eightOneOne)).toThrow(
      /split\.fractions\.test is 0\.1, but gives split test none of the dataset's 3 rows; push more rows/,
    );
  });

  it("names the values that are too rare for a stratified split, their rows, the rule and what to do", () => {
    const values = [{ value: "b", rows: 2 }, ...Array.from({ length: 198 }, (_, i) => ({ value: `a${i}`, rows: 1 }))];
    expect(() =>
      assertSplitsFilled({ train: 200, validation: 0, test: 0 }, eightOneOne, { column: "y", values }),
    ).toThrow(
      'split.stratifyBy is "y", but leaves validation and test without rows: the split is stratified, and each value needs ' +
        '3 rows to be in train, validation, test, but "a0" has 1 row, "a1" has 1 row, "a2" has 1 row, and 196 more values; ' +
        "push more rows of these values, set split.stratifyBy to a column with fewer values, or to null for a split without strata",
    );
  });
});
