import { frameTypes } from "../../../trainer-container/collective/frame";
import { postReceives } from "../../../trainer-container/collective/halving-receives";
import { planHalving } from "../../../trainer-container/reduction/halving";
import { planReduction } from "../../../trainer-container/reduction/plan";

const { begin, partial, sum } = frameTypes;

/** The receives of a rank for ten elements in chunks of four, as [rank, type, slot, start, end, frames]. */
function receivesOf(leafCount: number, worldSize: number, rank: number) {
  const halving = planHalving(planReduction(leafCount, worldSize))!.first;
  const posted = postReceives({ halving, leafCount, whole: { start: 0, end: 10 }, chunkElements: 4 }, rank);
  return posted.receives.map(({ rank, type, slot, span, missing }) => [
    rank,
    type,
    slot,
    span.start,
    span.end,
    missing,
  ]);
}

describe("postReceives", () => {
  it("lists one half from the only partner, then the other half's final sums, for two ranks", () => {
    expect(receivesOf(2, 2, 1)).toEqual([
      [0, begin, 2, 5, 10, 1],
      [0, partial, 2, 5, 10, 2],
      [0, sum, 0, 0, 5, 2],
    ]);
  });

  // Leaves [0, 1), [1, 2), [2, 4): ranks 0 and 2 are hosts, and rank 1 is a guest of rank 0.
  it("lists the partial sums of a guest before those of the partner", () => {
    expect(receivesOf(4, 3, 0)).toEqual([
      [1, begin, 0, 0, 10, 1],
      [1, partial, 1, 0, 10, 3],
      [2, begin, 4, 0, 5, 1],
      [2, partial, 4, 0, 5, 2],
      [2, sum, 0, 5, 10, 2],
    ]);
  });

  it("lists all final sums for a guest, in the chunks in which its host gets them", () => {
    expect(receivesOf(4, 3, 1)).toEqual([
      [0, begin, 5, 0, 10, 1],
      [0, sum, 0, 0, 10, 4],
    ]);
  });

  it("counts the frames of each stage", () => {
    const halving = planHalving(planReduction(4, 4))!.first;
    const { stages } = postReceives({ halving, leafCount: 4, whole: { start: 0, end: 8 }, chunkElements: 2 }, 3);
    expect([stages.give, stages.serve].map(({ missing }) => missing)).toEqual([0, 0]);
    expect(stages.halve.map(({ missing }) => missing)).toEqual([3, 2]);
    expect(stages.double.map(({ missing }) => missing)).toEqual([2, 1]);
  });
});
