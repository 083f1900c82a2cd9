import { GenerationLostError } from "../../../trainer-container/collective/errors";
import type { Mesh } from "../../../trainer-container/collective/mesh";
import { allocateSum } from "../../../trainer-container/collective/sum-memory";
import { makeLeaves, reduceAll, referenceSum, sameBits, startWorld, type World } from "./support";

const algorithm = "halving-doubling";

describe("halving and doubling", () => {
  let world: World | undefined;
  afterEach(() => world?.close());

  it.each([
    [2, 2],
    [4, 8],
    [8, 8],
    [16, 32],
    // Guests: W is no power of two.
    [3, 4],
    [6, 8],
    [7, 8],
    [13, 32],
    [5, 64],
  ])("gives the canonical sum's bits on %i ranks, V = %i, at any length", async (worldSize, microBatches) => {
    world = await startWorld(worldSize, { microBatches, chunkElements: 500, algorithm });
    for (const elements of [0, 1, worldSize - 1, worldSize, 1_025, 10_007]) {
      const leaves = makeLeaves(microBatches, elements, elements + 1);
      const expected = referenceSum(leaves);
      const allocate = elements % 2 === 0 ? allocateSum : undefined;
      for (const { out } of await reduceAll(world, leaves, { allocate })) expect(sameBits(out, expected)).toBe(true);
    }
  });

  it.each([
    [3, 4],
    [6, 8],
    [13, 16],
  ])("gives them on %i ranks, V = %i, also in two halves of a vector with hosts of their own", async (worldSize, V) => {
    world = await startWorld(worldSize, { microBatches: V, chunkElements: 1_500, algorithm });
    for (const elements of [16 * 1_024 - 1, 16 * 1_024, 20_011]) {
      const leaves = makeLeaves(V, elements);
      const expected = referenceSum(leaves);
      for (const { out } of await reduceAll(world, leaves, { signals: (rank) => 1 << rank })) {
        expect(sameBits(out, expected)).toBe(true);
      }
    }
  });

  it.each([2, 4, 8, 16])("writes 2(W-1)/W of the vector a rank for W = %i, to log2 W peers", async (worldSize) => {
    const elements = 64_000;
    world = await startWorld(worldSize, { microBatches: 16, algorithm });
    const before = world.ranks.map(({ mesh }) => mesh.bytesSent);
    await reduceAll(world, makeLeaves(16, elements));
    const payload = ((2 * (worldSize - 1)) / worldSize) * elements * 4;
    const headers = Math.log2(worldSize) * 3 * 40;
    expect(world.ranks.map(({ mesh }, rank) => mesh.bytesSent - before[rank]!)).toEqual(
      new Array(worldSize).fill(payload + headers),
    );
  });

  it.each([3, 4, 6, 8])("ORs the signals of all %i ranks, the same everywhere", async (worldSize) => {
    world = await startWorld(worldSize, { algorithm });
    const results = await reduceAll(world, makeLeaves(8, 10), { signals: (rank) => 1 << rank });
    expect(results.map(({ signals }) => signals)).toEqual(new Array(worldSize).fill(2 ** worldSize - 1));
  });

  it.each([4, 6])(
    "keeps successive sums on %i ranks apart, though ranks begin them at different times",
    async (size) => {
      world = await startWorld(size, { chunkElements: 100, algorithm });
      const steps = [0, 1, 2, 3, 4, 5].map((step) => makeLeaves(8, 400 + step * 97, step + 9));
      await Promise.all(
        world.ranks.map(async (collective, rank) => {
          const { first, end } = collective.plan.ranks[rank]!.leaves;
          for (const [step, leaves] of steps.entries()) {
            if ((step + rank) % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
            const out = new Float32Array(leaves[0]!.length);
            const local = leaves.slice(first, end).map((leaf) => leaf.slice());
            await collective.allReduce({ local, out, signals: 0, finishedSteps: step });
            expect(sameBits(out, referenceSum(leaves))).toBe(true);
          }
        }),
      );
    },
  );

  it.each([4, 6])("fails on all %i ranks where one disagrees on the vector's length or the step", async (worldSize) => {
    for (const [elements, finishedSteps, message] of [
      [[4, 5], [0, 0], /elements/],
      [[4, 4], [0, 1], /finished steps/],
    ] as const) {
      world = await startWorld(worldSize, { algorithm });
      const outcomes = await Promise.allSettled(
        world.ranks.map((collective, rank) => {
          const odd = rank === worldSize - 1 ? 1 : 0;
          const { first, end } = collective.plan.ranks[rank]!.leaves;
          return collective.allReduce({
            local: makeLeaves(end - first, elements[odd]),
            out: new Float32Array(elements[odd]),
            signals: 0,
            finishedSteps: finishedSteps[odd],
          });
        }),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(new Array(worldSize).fill("rejected"));
      expect(outcomes.some((outcome) => outcome.status === "rejected" && message.test(String(outcome.reason)))).toBe(
        true,
      );
      world.close();
    }
  });

  it.each([
    [4, 3],
    [8, 0],
    [6, 1],
    [6, 5],
    [7, 2],
  ])("of %i ranks names rank %i, which was lost, on every other, partner or not", async (worldSize, victim) => {
    world = await startWorld(worldSize, { algorithm });
    const survivors = world.ranks.filter((_, rank) => rank !== victim);
    const outcomes = Promise.allSettled(
      survivors.map((collective) => {
        const { first, end } = collective.plan.ranks[collective.mesh.options.rank]!.leaves;
        const local = makeLeaves(end - first, 1_000);
        return collective.allReduce({ local, out: new Float32Array(1_000), signals: 0, finishedSteps: 0 });
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    kill(world.ranks[victim]!.mesh);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { rank: victim } });
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(GenerationLostError);
    }
  });

  it("counts a step whose sums have all arrived, though their sender died right after", async () => {
    world = await startWorld(4, { algorithm });
    const leaves = makeLeaves(8, 100);
    const results = await reduceAll(world, leaves);
    kill(world.ranks[1]!.mesh);
    expect(results.every(({ out }) => sameBits(out, referenceSum(leaves)))).toBe(true);
  });
});

/** As the kernel ends a killed process's connections: at once, without a farewell. */
function kill(mesh: Mesh): void {
  for (const peer of mesh.others()) peer.close();
  mesh.abort(new GenerationLostError(1, undefined, "killed"));
}
