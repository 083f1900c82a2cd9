import { allocateSum } from "../../../trainer-container/collective/sum-memory";
import { makeLeaves, reduceAll, referenceSum, sameBits, startWorld, type World } from "./support";

describe("allReduce", () => {
  let world: World | undefined;
  afterEach(() => world?.close());

  it.each([1, 2, 3, 4, 5, 6, 7, 8])("gives the canonical sum's bits on %i ranks, at any length", async (worldSize) => {
    world = await startWorld(worldSize, { chunkElements: 1_000 });
    for (const elements of [0, 1, 3, 7, 8, 1_024, 100_003]) {
      const leaves = makeLeaves(8, elements, elements + 1);
      const expected = referenceSum(leaves);
      for (const allocate of [undefined, allocateSum])
        for (const { out } of await reduceAll(world, leaves, { allocate })) expect(sameBits(out, expected)).toBe(true);
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
      const before = world.ranks.map(({ mesh }) => mesh.bytesSent);
      const leaves = makeLeaves(8, elements);
      const expected = referenceSum(leaves);
      for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, expected)).toBe(true);
      const small = elements <= 128 * 1_024;
      // `begin` and one partial sum of everything; else of one half, and the sum of the other.
      const bytes = elements * 4 + (small ? 80 : 120);
      expect(world.ranks.map(({ mesh }, rank) => mesh.bytesSent - before[rank]!)).toEqual([bytes, bytes]);
      world.close();
    }
  });

  it("gives the same bits for 1,000,001 elements in full-size chunks", async () => {
    const leaves = makeLeaves(5, 1_000_001);
    const expected = referenceSum(leaves);
    for (const worldSize of [1, 3]) {
      world = await startWorld(worldSize, { microBatches: 5 });
      for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, expected)).toBe(true);
      world.close();
    }
  });

  it.each([2, 4, 8])("writes 2(W-1)/W of the vector a rank where %i divides V", async (worldSize) => {
    const elements = 160_000;
    world = await startWorld(worldSize);
    const before = world.ranks.map(({ mesh }) => mesh.bytesSent);
    await reduceAll(world, makeLeaves(8, elements));
    const payload = ((2 * (worldSize - 1)) / worldSize) * elements * 4;
    const headers = (worldSize - 1) * 3 * 40;
    expect(world.ranks.map(({ mesh }, rank) => mesh.bytesSent - before[rank]!)).toEqual(
      new Array(worldSize).fill(payload + headers),
    );
  });

  it("ORs the signals of all ranks, the same everywhere", async () => {
    world = await startWorld(3);
    const results = await reduceAll(world, makeLeaves(8, 10), { signals: (rank) => [1, 0, 4][rank]! });
    expect(results.map(({ signals }) => signals)).toEqual([5, 5, 5]);
  });

  it("keeps sums of successive steps apart, though ranks begin them at different times", async () => {
    world = await startWorld(3, { chunkElements: 100 });
    const steps = [0, 1, 2, 3, 4, 5].map((step) => makeLeaves(8, 400 + step, step + 9));
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
  });

  it("adds in shared memory as well, which threads may compute in", async () => {
    world = await startWorld(2, { chunkElements: 5_000 });
    const leaves = makeLeaves(8, 30_000);
    const shared = leaves.map((leaf) => {
      const copy = new Float32Array(new SharedArrayBuffer(leaf.byteLength));
      copy.set(leaf);
      return copy;
    });
    const outs = [0, 1].map(() => new Float32Array(new SharedArrayBuffer(30_000 * 4)));
    await Promise.all(
      world.ranks.map((collective, rank) =>
        collective.allReduce({
          local: shared.slice(rank * 4, rank * 4 + 4),
          out: outs[rank]!,
          signals: 0,
          finishedSteps: 0,
        }),
      ),
    );
    for (const out of outs) expect(sameBits(out, referenceSum(leaves))).toBe(true);
  });

  it("refuses wrong leaves before anything is sent", async () => {
    world = await startWorld(1);
    const [alone] = world.ranks;
    const reduce = (local: Float32Array[]) =>
      alone!.allReduce({ local, out: new Float32Array(4), signals: 0, finishedSteps: 0 });
    expect(() => reduce([])).toThrow("got 0 local leaves, but this rank computes 8");
    expect(() => reduce(makeLeaves(8, 3))).toThrow("a leaf has 3 elements, but out has 4");
  });

  it("loses the generation where ranks disagree on the vector's length or the step", async () => {
    for (const [elements, finishedSteps, message] of [
      [[4, 5], [0, 0], /elements/],
      [[4, 4], [0, 1], /finished steps/],
      [[0, 0], [3, 2], /finished steps/],
    ] as const) {
      world = await startWorld(2);
      const outcomes = await Promise.allSettled(
        world.ranks.map((collective, rank) =>
          collective.allReduce({
            local: makeLeaves(4, elements[rank]!),
            out: new Float32Array(elements[rank]!),
            signals: 0,
            finishedSteps: finishedSteps[rank]!,
          }),
        ),
      );
      expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
      expect(outcomes.some((outcome) => outcome.status === "rejected" && message.test(String(outcome.reason)))).toBe(
        true,
      );
      world.close();
    }
  });
});
