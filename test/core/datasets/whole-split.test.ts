import * as fc from "fast-check";
import { splitNames } from "../../../core/datasets/shapes";
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
