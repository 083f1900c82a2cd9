import { NoRowsError } from "../../../core/evaluation/errors";
import { listMetrics, ndcg, precisionAt, reciprocalRank } from "../../../core/evaluation/ranked-lists";

/** 1 / log₂(rank + 1), ranks from 1. */
const discount = (rank: number) => 1 / Math.log2(rank + 1);
const list = (relevance: readonly number[], scores: readonly number[]) => ({ relevance, scores });

describe("ndcg", () => {
  it.each([
    // In the scores' order the grades are 0, 3, 1; best would be 3, 1, 0.
    [
      "a shuffled list",
      list([3, 0, 1], [0.5, 0.9, 0.1]),
      undefined,
      (3 * discount(2) + discount(3)) / (3 + discount(2)),
    ],
    ["the best order", list([2, 1, 0], [3, 2, 1]), undefined, 1],
    ["the first two only", list([3, 0, 1], [0.5, 0.9, 0.1]), 2, (3 * discount(2)) / (3 + discount(2))],
    // 4 and 0 share ranks 1 and 2: 2 each.
    ["a tie", list([4, 0, 0], [1, 1, 0]), undefined, (2 + 2 * discount(2)) / 4],
    // The tie of three at rank 1 has one place in the first one: the mean gain, 1.
    ["a tie that k cuts", list([3, 0, 0], [1, 1, 1]), 1, 1 / 3],
    ["nothing relevant", list([0, 0], [1, 2]), undefined, 0],
    ["one document", list([2], [1]), undefined, 1],
    ["k past the end", list([0, 1], [2, 1]), 10, discount(2)],
  ])("of %s", (_case, ranked, k, expected) => {
    expect(ndcg(ranked, k)).toBeCloseTo(expected, 14);
  });
});

describe("reciprocalRank", () => {
  it.each([
    ["the first document", list([0, 1, 1], [1, 3, 2]), 1],
    ["a later one", list([0, 0, 1], [3, 2, 1]), 1 / 3],
    ["the last of equal scores", list([1, 0, 0, 1], [2, 2, 2, 1]), 1 / 3],
    ["none", list([0, 0], [1, 2]), 0],
  ])("of %s", (_case, ranked, expected) => {
    expect(reciprocalRank(ranked)).toBe(expected);
  });
});

describe("precisionAt", () => {
  it.each([
    ["of the first two", list([1, 0, 1], [3, 2, 1]), 2, 1 / 2],
    // One place is left for three equals, one of which is relevant.
    ["in a tie that k cuts", list([1, 1, 0, 0], [9, 5, 5, 5]), 2, (1 + 1 / 3) / 2],
    ["of fewer than k", list([1, 0], [1, 2]), 5, 1 / 2],
    ["of grades", list([3, 0], [2, 1]), 1, 1],
  ])("%s", (_case, ranked, k, expected) => {
    expect(precisionAt(ranked, k)).toBeCloseTo(expected, 15);
  });

  it("does not depend on the order in which equals come", () => {
    const orders = [list([1, 0, 0], [1, 1, 1]), list([0, 1, 0], [1, 1, 1]), list([0, 0, 1], [1, 1, 1])];
    expect(orders.map((each) => precisionAt(each, 1))).toEqual([1 / 3, 1 / 3, 1 / 3]);
  });
});

describe("listMetrics", () => {
  it("are means over lists, each counting once", () => {
    const found = listMetrics([list([1, 0], [2, 1]), list([0, 0, 1], [3, 2, 1]), list([0], [1])], 2);
    expect(found.ndcg).toBeCloseTo((1 + 0 + 0) / 3, 14);
    expect(found.mrr).toBeCloseTo((1 + 1 / 3 + 0) / 3, 14);
    expect(found.precisionAtK).toBeCloseTo((1 / 2 + 0 + 0) / 3, 14);
  });

  it.each([
    ["no lists", [], undefined, NoRowsError],
    ["an empty list", [list([], [])], undefined, NoRowsError],
    ["more scores than documents", [list([1], [1, 2])], undefined, RangeError],
    ["a negative relevance", [list([-1], [1])], undefined, "the relevance of document 0 is -1"],
    ["a score that is no number", [list([1], [Number.NaN])], undefined, "the score of document 0 is NaN"],
    ["k of nothing", [list([1], [1])], 0, "k is 0"],
    ["half a document", [list([1], [1])], 1.5, "k is 1.5"],
  ])("refuses %s", (_case, lists, k, error) => {
    expect(() => listMetrics(lists, k)).toThrow(error as string);
  });
});
