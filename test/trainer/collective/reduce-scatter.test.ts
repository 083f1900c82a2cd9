import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { allocateSum } from "../../../trainer-container/kernels/sum-memory";
import { shardSegment } from "../../../trainer-container/sharding/sharding";
import { leavesOf, makeLeaves, referenceSum, sameBits, startWorld, type World } from "./support";

const segmentsOf = (elements: number, world: number) =>
  Array.from({ length: world }, (_, rank) => shardSegment(elements, world, rank));

function scatterAll(
  world: World,
  leaves: readonly Float32Array[],
  {
    allocate = (length: number): Float32Array => new Float32Array(length),
    signals = (_rank: number): number => 0,
  } = {},
) {
  const worldSize = world.ranks.length;
  const segments = segmentsOf(leaves[0]!.length, worldSize);
  return Promise.all(
    world.ranks.map(async (collective, rank) => {
      const local = leavesOf(collective, leaves, allocate);
      const lengthOf = (owner: number) => segments[owner]!.end - segments[owner]!.start;
      const own = allocate(lengthOf(rank)).fill(Number.NaN);
      const copy = allocate(lengthOf((rank + worldSize - 1) % worldSize)).fill(Number.NaN);
      const input = { local, segments, own, copy, signals: signals(rank), finishedSteps: 0 };
      return { own, copy, signals: await collective.reduceScatter(input) };
    }),
  );
}

describe("reduceScatter", () => {
  let world: World;
  afterEach(() => world?.close());

  it.each([1, 2, 3, 4, 5, 8])("gives the canonical sum's segments to two ranks each of %i", async (worldSize) => {
    world = await startWorld(worldSize, { chunkElements: 1_000 });
    for (const allocate of [undefined, allocateSum]) {
      for (const elements of [1, 1_024, 3_000, 20_003]) {
        const leaves = makeLeaves(8, elements, elements + 1);
        const expected = referenceSum(leaves);
        const segments = segmentsOf(elements, worldSize);
        const part = (owner: number) => expected.slice(segments[owner]!.start, segments[owner]!.end);
        const outcomes = await scatterAll(world, leaves, allocate ? { allocate } : {});
        for (const [rank, { own, copy }] of outcomes.entries()) {
          expect(sameBits(own, part(rank))).toBe(true);
          if (worldSize > 1) expect(sameBits(copy, part((rank + worldSize - 1) % worldSize))).toBe(true);
        }
      }
    }
  });

  it("tells every rank who raised what", async () => {
    world = await startWorld(3);
    const outcomes = await scatterAll(world, makeLeaves(8, 10), { signals: (rank) => [0, 2, 16][rank]! });
    expect(outcomes.map(({ signals }) => signals)).toEqual(new Array(3).fill([0, 2, 16]));
  });

  it("loses the generation where ranks are at different steps", async () => {
    world = await startWorld(2);
    const inputs = world.ranks.map((_, rank) => ({
      local: makeLeaves(4, 10),
      segments: segmentsOf(10, 2),
      own: new Float32Array(rank === 1 ? 10 : 0),
      copy: new Float32Array(rank === 0 ? 10 : 0),
      signals: 0,
      finishedSteps: rank,
    }));
    const outcomes = await Promise.allSettled(world.ranks.map((ranks, rank) => ranks.reduceScatter(inputs[rank]!)));
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  });
});

describe("exchange", () => {
  let world: World;
  afterEach(() => world?.close());

  it("brings each message to its place, in pieces where it is large, and nothing where it is empty", async () => {
    world = await startWorld(3, { chunkElements: 100 });
    const sent = makeLeaves(3, 1_050, 4);
    const received = [0, 1, 2].map(() => [new Float32Array(1_050), new Float32Array(3), new Float32Array(0)]);
    await Promise.all(
      world.ranks.map((collective, rank) => {
        const to = (rank + 1) % 3;
        const from = (rank + 2) % 3;
        const [large, small, empty] = received[rank]!;
        return collective.exchange({
          sends: [
            { rank: to, number: 0, values: sent[rank]! },
            { rank: to, number: 7, values: sent[rank]!.subarray(3, 6) },
            { rank: to, number: 8, values: new Float32Array(0) },
          ],
          receives: [
            { rank: from, number: 0, values: large! },
            { rank: from, number: 7, values: small! },
            { rank: from, number: 8, values: empty! },
          ],
          finishedSteps: 4,
        });
      }),
    );
    for (const [rank, [large, small]] of received.entries()) {
      const origin = sent[(rank + 2) % 3]!;
      expect(sameBits(large!, origin)).toBe(true);
      expect(sameBits(small!, origin.slice(3, 6))).toBe(true);
    }
  });

  it("is a barrier: nobody is through before all have come", async () => {
    world = await startWorld(3);
    const through: number[] = [];
    const enter = (rank: number) =>
      world.ranks[rank]!.exchange({ sends: [], receives: [], finishedSteps: 0 }).then(() => through.push(rank));
    const early = [enter(0), enter(1)];
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(through).toEqual([]);
    await Promise.all([...early, enter(2)]);
    expect(through).toHaveLength(3);
  });

  it("fails where a rank dies before it has sent what it owes, and where a message is not awaited", async () => {
    world = await startWorld(2);
    const message = (rank: number, number: number) => ({ rank, number, values: new Float32Array(4) });
    const waiting = world.ranks[0]!.exchange({ sends: [], receives: [message(1, 0)], finishedSteps: 0 });
    for (const peer of world.ranks[1]!.mesh.others()) peer.close();
    await expect(waiting).rejects.toBeInstanceOf(GenerationLostError);
    world.close();
    world = await startWorld(2);
    const outcomes = await Promise.allSettled([
      world.ranks[0]!.exchange({ sends: [message(1, 0)], receives: [], finishedSteps: 0 }),
      world.ranks[1]!.exchange({ sends: [], receives: [message(0, 5)], finishedSteps: 0 }),
    ]);
    expect(outcomes[1]).toMatchObject({ status: "rejected", reason: expect.any(GenerationLostError) });
  });
});
