import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { allocateSum } from "../../../trainer-container/kernels/sum-memory";
import {
  bytesSent,
  kill,
  makeLeaves,
  reduceAll,
  reduceOn,
  referenceSum,
  sameBits,
  startWorld,
  type World,
} from "./support";

describe("allReduce", () => {
  let world: World | undefined;
  afterEach(() => world?.close());

  it.each([
    ["direct", 1, 8],
    ["direct", 2, 8],
    ["direct", 3, 8],
    ["direct", 5, 8],
    ["direct", 8, 8],
    ["halving-doubling", 2, 2],
    ["halving-doubling", 8, 8],
    ["halving-doubling", 16, 32],
    // Guests: W is no power of two.
    ["halving-doubling", 3, 4],
    ["halving-doubling", 7, 8],
    ["halving-doubling", 13, 32],
    ["halving-doubling", 5, 64],
  ] as const)("gives the canonical sum's bits by %s on %i ranks, V = %i, at any length", async (algorithm, size, V) => {
    world = await startWorld(size, { microBatches: V, chunkElements: 1_000, algorithm });
    for (const elements of [0, 1, size - 1, size, 1_025, 100_003 / (algorithm === "direct" ? 1 : 10)].map(Math.trunc)) {
      const leaves = makeLeaves(V, elements, elements + 1);
      const expected = referenceSum(leaves);
      for (const allocate of [undefined, allocateSum])
        for (const { out } of await reduceAll(world, leaves, { allocate })) expect(sameBits(out, expected)).toBe(true);
    }
  });

  it.each([
    [3, 4],
    [6, 8],
    [13, 16],
  ])("gives them on %i ranks, V = %i, also in two halves of a vector with hosts of their own", async (worldSize, V) => {
    world = await startWorld(worldSize, { microBatches: V, chunkElements: 1_500, algorithm: "halving-doubling" });
    for (const elements of [16 * 1_024 - 1, 16 * 1_024, 20_011]) {
      const leaves = makeLeaves(V, elements);
      const expected = referenceSum(leaves);
      for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, expected)).toBe(true);
    }
  });

  it.each([
    [8, [1, 2, 3, 5, 8]],
    [6, [1, 2, 4]],
  ])("takes the sums of subtrees in place of the leaves, for V = %i", async (microBatches, worlds) => {
    for (const worldSize of worlds) {
      world = await startWorld(worldSize, { chunkElements: 1_000, microBatches });
      for (const elements of [1, 1_024, 30_003]) {
        const leaves = makeLeaves(microBatches, elements, elements + 1);
        const results = world.ranks.map(async (collective) => {
          const local = collective.subtrees!.map(({ first, end }) => referenceSum(leaves.slice(first, end)));
          const out = worldSize === 1 ? local[0]! : new Float32Array(elements);
          await collective.allReduce({ local, out, signals: 0, finishedSteps: elements });
          return out;
        });
        for (const out of await Promise.all(results)) expect(sameBits(out, referenceSum(leaves))).toBe(true);
      }
      world.close();
    }
  });

  it("exchanges a small vector in one message each where two ranks have a partial sum each", async () => {
    for (const elements of [1, 999, 128 * 1_024, 128 * 1_024 + 1]) {
      world = await startWorld(2);
      const before = bytesSent(world);
      const leaves = makeLeaves(8, elements);
      const expected = referenceSum(leaves);
      for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, expected)).toBe(true);
      // `begin` and one partial sum of everything; else of one half, and the sum of the other.
      const bytes = elements * 4 + (elements <= 128 * 1_024 ? 80 : 120);
      expect(bytesSent(world).map((sent, rank) => sent - before[rank]!)).toEqual([bytes, bytes]);
      world.close();
    }
  });

  it.each([
    ["direct", 2, 1],
    ["direct", 4, 3],
    ["direct", 8, 7],
    ["halving-doubling", 2, 1],
    ["halving-doubling", 4, 2],
    ["halving-doubling", 8, 3],
    ["halving-doubling", 16, 4],
  ] as const)(
    "writes 2(W-1)/W of the vector a rank by %s, W = %i, to %i peers",
    async (algorithm, worldSize, peers) => {
      const elements = 160_000;
      world = await startWorld(worldSize, { microBatches: 16, algorithm });
      const before = bytesSent(world);
      await reduceAll(world, makeLeaves(16, elements));
      const bytes = ((2 * (worldSize - 1)) / worldSize) * elements * 4 + peers * 3 * 40;
      expect(bytesSent(world).map((sent, rank) => sent - before[rank]!)).toEqual(new Array(worldSize).fill(bytes));
    },
  );

  const both = [
    ["direct", 3],
    ["halving-doubling", 4],
    ["halving-doubling", 6],
  ] as const;

  it.each(both)("ORs the signals of all ranks by %s, the same on all %i", async (algorithm, worldSize) => {
    world = await startWorld(worldSize, { algorithm });
    const results = await reduceAll(world, makeLeaves(8, 10), { signals: (rank) => 1 << rank });
    expect(results.map(({ signals }) => signals)).toEqual(new Array(worldSize).fill(2 ** worldSize - 1));
  });

  it.each(both)(
    "by %s keeps successive sums on %i ranks apart, which begin them at different times",
    async (algorithm, size) => {
      world = await startWorld(size, { chunkElements: 100, algorithm });
      const steps = [0, 1, 2, 3, 4, 5].map((step) => makeLeaves(8, 400 + step * 97, step + 9));
      await Promise.all(
        world.ranks.map(async (collective, rank) => {
          for (const [step, leaves] of steps.entries()) {
            if ((step + rank) % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
            const { out } = await reduceOn(collective, leaves, { finishedSteps: step });
            expect(sameBits(out, referenceSum(leaves))).toBe(true);
          }
        }),
      );
    },
  );

  it("refuses wrong leaves before anything is sent", async () => {
    world = await startWorld(1);
    const [alone] = world.ranks;
    const reduce = (local: Float32Array[]) =>
      alone!.allReduce({ local, out: new Float32Array(4), signals: 0, finishedSteps: 0 });
    expect(() => reduce([])).toThrow("got 0 local leaves, but this rank computes 8");
    expect(() => reduce(makeLeaves(8, 3))).toThrow("a leaf has 3 elements, but out has 4");
  });

  it.each(both)(
    "by %s fails on all %i ranks where one disagrees on the vector's length or the step",
    async (algorithm, size) => {
      for (const [elements, finishedSteps, message] of [
        [[4, 5], [0, 0], /elements/],
        [[4, 4], [0, 1], /finished steps/],
        [[0, 0], [3, 2], /finished steps/],
      ] as const) {
        world = await startWorld(size, { algorithm });
        const outcomes = await Promise.allSettled(
          world.ranks.map((collective, rank) => {
            const odd = rank === size - 1 ? 1 : 0;
            return reduceOn(collective, makeLeaves(8, elements[odd]), { finishedSteps: finishedSteps[odd] });
          }),
        );
        const reasons = outcomes.map((outcome) => (outcome.status === "rejected" ? String(outcome.reason) : "none"));
        expect(reasons).not.toContain("none");
        expect(reasons.some((reason) => message.test(reason))).toBe(true);
        world.close();
      }
    },
  );

  it.each([
    ["direct", 4, 3],
    ["halving-doubling", 4, 3],
    ["halving-doubling", 8, 0],
    ["halving-doubling", 6, 1],
    ["halving-doubling", 6, 5],
    ["halving-doubling", 7, 2],
  ] as const)(
    "by %s of %i ranks names rank %i, which was lost, on every other",
    async (algorithm, worldSize, victim) => {
      world = await startWorld(worldSize, { algorithm });
      const survivors = world.ranks.filter((_, rank) => rank !== victim);
      const outcomes = Promise.allSettled(survivors.map((collective) => reduceOn(collective, makeLeaves(8, 1_000))));
      await new Promise((resolve) => setTimeout(resolve, 20));
      kill(world.ranks[victim]!.mesh);
      for (const outcome of await outcomes) {
        expect(outcome).toMatchObject({ status: "rejected", reason: { rank: victim } });
        expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(GenerationLostError);
      }
    },
  );
});
