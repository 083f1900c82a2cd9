import { GenerationLostError } from "../../../trainer-container/collective/errors";
import { makeLeaves, reduceAll, referenceSum, sameBits, startWorld } from "./support";

describe("transferState", () => {
  it("writes the source's buffers over those of the ranks behind, and no others", async () => {
    const world = await startWorld(3, { chunkElements: 1_000 });
    const states = world.ranks.map((_, rank) => [
      new Float32Array(2_500).fill(rank),
      new Float32Array(0),
      new Float32Array(1).fill(rank + 0.5),
    ]);
    const input = { source: 1, behind: [0] };
    const done = world.ranks.map((collective, rank) => collective.transferState({ state: states[rank]!, ...input }));
    await Promise.all(done);
    expect(states.map(([first, , last]) => [first?.[0], first?.[2_499], last?.[0]])).toEqual([
      [1, 1, 1.5],
      [1, 1, 1.5],
      [2, 2, 2.5],
    ]);
    const leaves = makeLeaves(8, 10);
    for (const { out } of await reduceAll(world, leaves)) expect(sameBits(out, referenceSum(leaves))).toBe(true);
    world.close();
  });

  it("leaves the state as it was where the source dies half-way", async () => {
    const world = await startWorld(2, { chunkElements: 100 });
    const state = [new Float32Array(200_000).fill(3)];
    const receiving = world.ranks[0]!.transferState({ state, source: 1, behind: [0] });
    const sending = world.ranks[1]!.transferState({ state: [new Float32Array(200_000)], source: 1, behind: [0] });
    setTimeout(() => {
      for (const peer of world.ranks[1]!.mesh.others()) peer.close();
    }, 3);
    await expect(receiving).rejects.toBeInstanceOf(GenerationLostError);
    await sending.catch(() => {});
    expect(state[0]!.every((value) => value === 3)).toBe(true);
    world.close();
  });

  it("loses the generation where the states differ in size", async () => {
    const world = await startWorld(2);
    const outcomes = await Promise.allSettled(
      world.ranks.map((collective, rank) =>
        collective.transferState({ state: [new Float32Array(4 + rank)], source: 1, behind: [0] }),
      ),
    );
    expect(outcomes[0]).toMatchObject({ status: "rejected", reason: expect.any(GenerationLostError) });
    world.close();
  });
});
