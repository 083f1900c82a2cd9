import fc from "fast-check";
import { chooseAlgorithm, planHalving } from "../../../trainer-container/reduction/halving";
import { canonicalAdditions, leafRange, planReduction } from "../../../trainer-container/reduction/plan";
import { halvingNeighbours } from "../../support/large-gang/topology";

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
        const ranges = Array.from({ length: worldSize }, (_, rank) => leafRange(leafCount, worldSize, rank));
        expect(ranges.map(({ first }) => first)).toEqual([0, ...ranges.slice(0, -1).map(({ end }) => end)]);
        expect(ranges.at(-1)!.end).toBe(leafCount);
        const sizes = ranges.map(({ first, end }) => end - first);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe("planReduction", () => {
  it.each([
    [8, 1, "0"],
    [8, 2, "0 | 4"],
    [8, 4, "0 | 2 | 4 | 6"],
    [8, 3, "0 | 2,4 | 5,6"],
    [6, 2, "0,2 | 3,4"],
  ])("V = %i on W = %i sends the partial sums worked by hand: %s", (leafCount, worldSize, partials) => {
    expect(
      planReduction(leafCount, worldSize)
        .ranks.map((rank) => rank.partials.join())
        .join(" | "),
    ).toBe(partials);
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

const planOf = (microBatches: number, worldSize: number) => planHalving(planReduction(microBatches, worldSize))!.first;

describe("planHalving", () => {
  it("makes every rank a host where W is a power of two, and gives nothing away", () => {
    const { hosts, roles } = planOf(8, 4);
    expect(hosts).toEqual([0, 1, 2, 3]);
    expect(roles[2]).toEqual({ position: 2, gives: [], takes: [], additions: [], guests: [], server: undefined });
  });

  it("lets guests give their partial sums to the hosts of their subtrees: 3 ranks of 8 leaves", () => {
    // Leaves [0, 2), [2, 5), [5, 8); two subtrees of four: rank 0 hosts the first, rank 1, which computes leaf 4, the second.
    const { hosts, roles } = planOf(8, 3);
    expect(hosts).toEqual([0, 1]);
    const none = { gives: [], takes: [], additions: [], guests: [], server: undefined };
    const from = (slot: number, rank: number) => ({ slot, rank });
    expect(roles).toEqual([
      { ...none, position: 0, takes: [from(2, 1)], additions: [{ into: 0, from: 2, end: 4 }] },
      {
        ...none,
        position: 1,
        gives: [from(2, 0)],
        takes: [from(5, 2), from(6, 2)],
        additions: [5, 6].map((slot) => ({ into: 4, from: slot, end: slot === 5 ? 6 : 8 })),
        guests: [2],
      },
      { ...none, position: undefined, gives: [from(5, 1), from(6, 1)], server: 1 },
    ]);
  });

  it("adds every node above the partial sums exactly once: within a subtree by its host, above by halving", () => {
    for (const [microBatches, worldSize] of [
      [8, 5],
      [64, 37],
      [1024, 1000],
      [1024, 513],
    ] as const) {
      const plan = planReduction(microBatches, worldSize);
      const { first, last } = planHalving(plan)!;
      for (const { hosts, roles } of [first, last]) {
        const within = roles.flatMap(({ additions }) => additions).length;
        expect(within + hosts.length - 1).toBe(plan.combine.length);
        const served = roles.flatMap(({ guests }) => guests).sort((a, b) => a - b);
        expect(served).toEqual([...roles.keys()].filter((rank) => !hosts.includes(rank)));
      }
    }
  });

  it("mirrors who is host and guest, so that the load is even: 3 ranks of 4 leaves", () => {
    // Leaves [0, 1), [1, 2), [2, 4): rank 1 is a guest where first leaves count, rank 0 where last ones do.
    const { first, last } = planHalving(planReduction(4, 3))!;
    expect([first.hosts, last.hosts]).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(first.roles[1]).toMatchObject({ position: undefined, gives: [{ slot: 1, rank: 0 }], server: 0 });
    expect(last.roles[0]).toMatchObject({ position: undefined, gives: [{ slot: 0, rank: 1 }], server: 1 });
    const power = planHalving(planReduction(8, 4))!;
    expect(power.last).toBe(power.first);
  });

  it.each([
    [6, 3],
    [12, 4],
    [8, 1],
  ])("says that V = %i on %i ranks cannot be summed so", (microBatches, worldSize) => {
    expect(planHalving(planReduction(microBatches, worldSize))).toBeUndefined();
  });

  it("needs few neighbours, and each is one of its neighbours' own", () => {
    for (const [worldSize, most] of [
      [512, 9],
      [1000, 22],
      [1024, 10],
    ] as const) {
      const plans = planHalving(planReduction(1024, worldSize))!;
      const near = plans.first.roles.map((_, rank) => halvingNeighbours(plans, rank));
      expect(Math.max(...near.map(({ length }) => length))).toBeLessThanOrEqual(most);
      expect(near.every((ranks, rank) => ranks.every((other) => near[other]!.includes(rank)))).toBe(true);
    }
  });
});

describe("chooseAlgorithm", () => {
  const kib = 256;
  it.each([
    ["few ranks", 8, 8, 1 * kib, "direct"],
    ["few ranks, large vector", 15, 16, 100_000 * kib, "direct"],
    ["sixteen, segments of 32 KiB", 16, 16, 512 * kib, "halving-doubling"],
    ["sixteen, longer segments", 16, 16, 513 * kib, "direct"],
    ["dozens, small vector", 32, 32, 1_024 * kib, "halving-doubling"],
    ["dozens, large vector", 64, 64, 100_000 * kib, "direct"],
    ["dozens, V no power of two", 40, 48, 4 * kib, "direct"],
    ["beyond the full mesh, whatever the size", 65, 128, 100_000 * kib, "halving-doubling"],
    ["a thousand", 1_000, 1_024, 4 * kib, "halving-doubling"],
  ] as const)("of %s", (_, worldSize, microBatches, elements, expected) => {
    expect(chooseAlgorithm({ worldSize, microBatches, elements })).toBe(expected);
  });
});
