import fc from "fast-check";
import { likeMatcher } from "../../../../core/tracking/search/like";
import { TopK } from "../../../../core/tracking/search/run-search";
import { rounds, seedOf } from "../../../support/rounds";
import { filterArbitrary, orderArbitrary, runArbitrary } from "./arbitraries";
import { naiveSearch } from "./naive";
import { found, queryOf } from "./runs";

const runsArbitrary = fc
  .array(runArbitrary(fc.constant("")), { maxLength: 12 })
  .map((runs) => runs.map((run, index) => ({ ...run, record: { ...run.record, runId: `run-${index}` } })));

describe("a search", () => {
  it("finds what the naive one finds, in the same order", () => {
    const view = fc.constantFrom("active" as const, "deleted" as const, "all" as const);
    fc.assert(
      fc.property(runsArbitrary, filterArbitrary, orderArbitrary, view, (runs, filter, orderBy, seen) => {
        const query = queryOf({ filter, orderBy, view: seen });
        expect(found(runs, query)).toEqual(naiveSearch(runs, query));
      }),
      { seed: seedOf(27), numRuns: rounds(300, 10_000) },
    );
  });
});

describe("LIKE", () => {
  it("takes no power of the text's length, whatever the pattern", () => {
    expect(likeMatcher(`${"%a".repeat(50)}b`, false)("a".repeat(5_000))).toBe(false);
    expect(likeMatcher(`%${"a".repeat(8_000)}b`, false)("a".repeat(100_000))).toBe(false);
    expect(likeMatcher(`%${"a".repeat(90_000)}b%`, false)("a".repeat(100_000))).toBe(false);
    expect(likeMatcher(`%${"_a".repeat(499)}b%`, false)("a".repeat(100_000))).toBe(false);
  });
});

describe("the first of many", () => {
  it("are those of a sort", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: 0, max: 12 }), (items, count) => {
        const top = new TopK<number>(count, (a, b) => a - b);
        for (const item of items) top.add(item);
        expect(top.sorted()).toEqual([...items].sort((a, b) => a - b).slice(0, count));
      }),
      { seed: seedOf(29), numRuns: rounds(50) },
    );
  });
});
