import fc from "fast-check";
import { canonicalAdditions, leafRange, planReduction } from "../../../trainer-container/reduction/plan";

/** The definition, written as plainly as can be. */
function referenceSum(leaves: readonly number[]): number {
  if (leaves.length === 1) return leaves[0]!;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return Math.fround(referenceSum(leaves.slice(0, split)) + referenceSum(leaves.slice(split)));
}

/** Runs a plan as W ranks would: own additions, then partial sums alone go to the owner. */
function plannedSum(leaves: readonly number[], worldSize: number): number {
  const plan = planReduction(leaves.length, worldSize);
  const atOwner = new Map<number, number>();
  for (const rank of plan.ranks) {
    const slots = new Map<number, number>();
    for (let leaf = rank.leaves.first; leaf < rank.leaves.end; leaf++) slots.set(leaf, leaves[leaf]!);
    for (const { into, from } of rank.additions) slots.set(into, Math.fround(slots.get(into)! + slots.get(from)!));
    for (const slot of rank.partials) atOwner.set(slot, slots.get(slot)!);
  }
  for (const { into, from } of plan.combine) {
    atOwner.set(into, Math.fround(atOwner.get(into)! + atOwner.get(from)!));
    atOwner.delete(from);
  }
  expect([...atOwner.keys()]).toEqual([0]);
  return atOwner.get(0)!;
}

const bits = (value: number) => new Uint32Array(new Float32Array([value]).buffer)[0];

describe("canonicalAdditions", () => {
  it.each([
    [1, []],
    [2, ["0+1"]],
    [3, ["0+1", "0+2"]],
    [5, ["0+1", "2+3", "0+2", "0+4"]],
    [6, ["0+1", "2+3", "0+2", "4+5", "0+4"]],
    [8, ["0+1", "2+3", "0+2", "4+5", "6+7", "4+6", "0+4"]],
  ])("adds %i leaves in the order worked by hand", (leafCount, expected) => {
    expect(canonicalAdditions(leafCount).map(({ into, from }) => `${into}+${from}`)).toEqual(expected);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses a leaf count of %p", (leafCount) => {
    expect(() => canonicalAdditions(leafCount)).toThrow(/must be an integer >= 1/);
  });
});

describe("leafRange", () => {
  it("covers all leaves once, in order, balanced within one", () => {
    for (let leafCount = 1; leafCount <= 40; leafCount++) {
      for (let worldSize = 1; worldSize <= leafCount; worldSize++) {
        let next = 0;
        for (let rank = 0; rank < worldSize; rank++) {
          const { first, end } = leafRange(leafCount, worldSize, rank);
          expect(first).toBe(next);
          expect([Math.floor(leafCount / worldSize), Math.ceil(leafCount / worldSize)]).toContain(end - first);
          next = end;
        }
        expect(next).toBe(leafCount);
      }
    }
  });
});

describe("planReduction", () => {
  it.each([
    { leafCount: 8, worldSize: 1, partials: [[0]] },
    { leafCount: 8, worldSize: 2, partials: [[0], [4]] },
    { leafCount: 8, worldSize: 4, partials: [[0], [2], [4], [6]] },
    { leafCount: 8, worldSize: 3, partials: [[0], [2, 4], [5, 6]] },
    {
      leafCount: 6,
      worldSize: 2,
      partials: [
        [0, 2],
        [3, 4],
      ],
    },
  ])("V = $leafCount on W = $worldSize sends the partial sums worked by hand", ({ leafCount, worldSize, partials }) => {
    expect(planReduction(leafCount, worldSize).ranks.map((rank) => rank.partials)).toEqual(partials);
  });

  it("sends one partial sum a rank where W divides V into whole subtrees", () => {
    for (const leafCount of [1, 2, 4, 8, 16, 32]) {
      for (let worldSize = 1; worldSize <= leafCount; worldSize *= 2) {
        for (const rank of planReduction(leafCount, worldSize).ranks) expect(rank.partials).toHaveLength(1);
      }
    }
  });

  it("gives the reference's bits for every W <= V <= 16", () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 16 }),
        (leaves) => {
          const expected = bits(referenceSum(leaves));
          for (let worldSize = 1; worldSize <= leaves.length; worldSize++) {
            expect(bits(plannedSum(leaves, worldSize))).toBe(expected);
          }
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });

  it("adds in an order that matters: another order gives other bits", () => {
    const leaves = [1, 2 ** -24, 2 ** -24, 2 ** -24];
    expect(plannedSum(leaves, 3)).not.toBe(leaves.reduce((sum, leaf) => Math.fround(sum + leaf)));
  });

  it.each([0, 9, 1.5])("refuses a world of %p for 8 leaves", (worldSize) => {
    expect(() => planReduction(8, worldSize)).toThrow(/must be an integer from 1 to the leaf count \(8\)/);
  });
});
