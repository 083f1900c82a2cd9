import type { Collective } from "../../../trainer-container/collective/collective";
import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { FinalRanges } from "../../../trainer-container/collective/segments";
import { MeshGeneration } from "../../../trainer-container/gang/mesh-generation";
import { head as someHead } from "../gang/store-contract";
import { leavesOf, makeLeaves, referenceSum, sameBits, startWorld, type World } from "./support";

describe("final ranges", () => {
  it.each<[string, readonly string[], string, boolean]>([
    ["no range reported", [], "0-1", false],
    ["reported whole", ["0-10"], "2-10", true],
    ["from the end, as a backward pass goes", ["6-10", "3-6", "0-3"], "0-10", true],
    ["with a hole", ["0-4", "5-10"], "3-6", false],
    ["the hole closed by an overlapping range", ["0-4", "6-10", "3-7"], "0-10", true],
    ["empty ranges", ["5-5"], "4-5", false],
  ])("%s", (_, reported, requested, covered) => {
    const spanOf = (text: string) => {
      const [start, end] = text.split("-").map(Number);
      return { start: start!, end: end! };
    };
    const ranges = new FinalRanges();
    for (const range of reported) ranges.add(spanOf(range));
    expect(ranges.covers(spanOf(requested))).toBe(covered);
  });
});

/** As a backward pass would: the last leaf is written from its end, `bucket` elements at a time, in one turn of the event loop. */
function reduceOverlapped(collective: Collective, leaves: readonly Float32Array[], bucket: number, until = 0) {
  const own = leavesOf(collective, leaves);
  const last = own[own.length - 1]!;
  const final = last.slice();
  last.fill(Number.NaN);
  const out = new Float32Array(last.length).fill(Number.NaN);
  const sum = collective.beginAllReduce({ local: own, out, signals: collective.mesh.options.rank, finishedSteps: 0 });
  for (let at = last.length; at > until; ) {
    const start = Math.max(until, at - bucket);
    last.set(final.subarray(start, at), start);
    sum.ready(start, at);
    at = start;
  }
  last.set(final.subarray(0, until));
  return { sum, out };
}

describe("an all-reduce that begins before the last leaf is whole", () => {
  let world: World | undefined;
  afterEach(() => world?.close());

  it.each([1, 2, 3, 5, 8])(
    "has the same bits on %i ranks, overlapped or not, wherever the buckets lie",
    async (worldSize) => {
      for (const [elements, bucket, until] of [
        [100_003, 7_001, 0],
        [100_003, 333, 50_000],
        [30, 7, 0],
        [20_000, 20_000, 20_000],
      ] as const) {
        world = await startWorld(worldSize, { chunkElements: 1_000 });
        const leaves = makeLeaves(8, elements, elements + bucket);
        const expected = referenceSum(leaves);
        const outcomes = await Promise.all(
          world.ranks.map(async (collective, rank) => {
            // Ranks need not overlap alike.
            const { sum, out } = reduceOverlapped(collective, leaves, bucket, rank === 0 ? elements : until);
            return { out, ...(await sum.finish()) };
          }),
        );
        for (const { out, signals } of outcomes) {
          expect(sameBits(out, expected)).toBe(true);
          expect(signals).toBe(outcomes.map((_, rank) => rank).reduce((or, rank) => or | rank, 0));
        }
        world.close();
      }
    },
  );

  it("has handed the kernel what was ready before the event loop turns", async () => {
    world = await startWorld(2, { chunkElements: 1_000 });
    const leaves = makeLeaves(8, 140_000);
    const pending = () => world!.ranks[0]!.mesh.others()[0]!.outbound!.pending;
    const { sum, out } = reduceOverlapped(world.ranks[0]!, leaves, 1_000);
    expect(world.ranks[0]!.mesh.bytesSent).toBeGreaterThan(20_000 * 4);
    const other = reduceOverlapped(world.ranks[1]!, leaves, 140_000);
    await Promise.all([sum.finish(), other.sum.finish()]);
    expect(pending()).toBe(0);
    expect(sameBits(out, referenceSum(leaves))).toBe(true);
  });

  it("names the rank that is lost during the backward pass, once that is over", async () => {
    world = await startWorld(3, { chunkElements: 1_000 });
    const leaves = makeLeaves(8, 300_000);
    for (const peer of world.ranks[2]!.mesh.others()) peer.close();
    const begun = [0, 1].map((rank) => reduceOverlapped(world!.ranks[rank]!, leaves, 10_000, 1_000));
    // Long enough for the loss to be noticed while nobody waits for the sum: that must not be an unhandled rejection.
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (const { sum } of begun) expect(() => sum.ready(0, 1_000)).not.toThrow();
    for (const outcome of await Promise.allSettled(begun.map(({ sum }) => sum.finish()))) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { rank: 2 } });
      expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(GenerationLostError);
    }
  });

  it("is what a generation offers for large vectors among several workers", async () => {
    for (const [worldSize, elements, offered] of [
      [1, 2 ** 18, false],
      [2, 2 ** 18 - 1, false],
      [2, 2 ** 18, true],
    ] as const) {
      world = await startWorld(worldSize, { microBatches: 2 });
      const leaves = makeLeaves(2, elements);
      const [member] = someHead(1).members;
      const members = world.ranks.map((_, rank) => ({ ...member!, memberId: `m${rank}`, workerIndex: rank }));
      const head = someHead(1, { members });
      const sums = world.ranks.map(({ mesh }, rank) => {
        const generation = new MeshGeneration(head, mesh, undefined, () => {});
        const { first, end } = generation.leaves;
        const out = new Float32Array(elements);
        return { out, begun: generation.beginAllReduce(leaves.slice(first, end), out, rank, 0), generation };
      });
      expect(sums.map(({ begun }) => begun !== undefined)).toEqual(new Array(worldSize).fill(offered));
      for (const { begun } of sums) begun?.ready(elements / 2, elements);
      const signals = await Promise.all(sums.map(({ begun }) => begun?.finish()));
      if (offered) {
        expect(signals).toEqual([1, 1]);
        for (const { out } of sums) expect(sameBits(out, referenceSum(leaves))).toBe(true);
      }
      world.close();
    }
  });

  it("may be given up: closing the generation frees it", async () => {
    world = await startWorld(2, { chunkElements: 1_000 });
    const { sum } = reduceOverlapped(world.ranks[0]!, makeLeaves(8, 10_000), 1_000, 5_000);
    world.ranks[0]!.mesh.close();
    await expect(sum.finish()).rejects.toBeInstanceOf(GenerationLostError);
  });
});
