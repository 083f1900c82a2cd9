import { type NarrowFormat, roundings } from "../../../core/training/narrow-format";
import { allocateSum } from "../../../trainer-container/kernels/sum-memory";
import { createGradientWire } from "../../../trainer-container/loop/gradients";
import { bytesSent, leavesOf, makeLeaves, referenceSum, sameBits, startWorld, type World } from "./support";

const exact = 4;

function expectedSum(format: NarrowFormat, leaves: readonly Float32Array[]): Float32Array {
  const narrow = leaves[0]!.length - exact;
  const sum = referenceSum(leaves);
  const { encode, decode } = roundings[format];
  const parts = leaves.map((leaf) => leaf.subarray(0, narrow));
  sum.set(referenceSum(parts, (value) => decode(encode(Math.fround(value)))));
  return sum;
}

function wireOf(format: "float32" | NarrowFormat, elements: number) {
  return createGradientWire(format, { trainableCount: elements - exact, parameterCount: elements - 3 }, { length: 3 });
}

function reduce(world: World, format: "float32" | NarrowFormat, leaves: readonly Float32Array[]) {
  const elements = leaves[0]!.length;
  const wire = wireOf(format, elements);
  return Promise.all(
    world.ranks.map(async (collective) => {
      const local = leavesOf(collective, leaves).map((leaf) => {
        const packed = allocateSum(wire.words);
        wire.write(leaf, 1, packed);
        return packed;
      });
      const out = allocateSum(wire.words);
      await collective.allReduce({ local, out, signals: 0, finishedSteps: 0, ...(wire.add && { add: wire.add }) });
      const sum = new Float32Array(elements);
      wire.read(out, sum);
      return sum;
    }),
  );
}

describe.each(["bfloat16", "float16"] as const)("sums in %s", (format) => {
  let world: World | undefined;
  afterEach(() => world?.close());

  it.each([1, 2, 3, 4, 5, 8])(
    "have the bits of the rounded tree on %i ranks, exact elements those of float32",
    async (worldSize) => {
      world = await startWorld(worldSize, { chunkElements: 1_000 });
      for (const elements of [exact, exact + 1, exact + 7, 1_024, 6_003]) {
        const leaves = makeLeaves(8, elements, elements).map((leaf) => leaf.map((value) => value / 4_096));
        const expected = expectedSum(format, leaves);
        for (const sum of await reduce(world, format, leaves)) expect(sameBits(sum, expected)).toBe(true);
      }
    },
  );

  it.each([2, 3, 4, 7])("have them by halving and doubling on %i ranks as well", async (worldSize) => {
    world = await startWorld(worldSize, { chunkElements: 1_000, algorithm: "halving-doubling" });
    const leaves = makeLeaves(8, 9_999, 5).map((leaf) => leaf.map((value) => value / 4_096));
    const expected = expectedSum(format, leaves);
    for (const sum of await reduce(world, format, leaves)) expect(sameBits(sum, expected)).toBe(true);
  });

  it.each([2, 4, 8])("cross the wire in half the bytes, %i ranks", async (worldSize) => {
    const elements = 64_000 + exact;
    // Each other rank gets `begin`, a partial sum and a sum; of two ranks, no sum.
    const headerBytes = (worldSize - 1) * (worldSize === 2 ? 2 : 3) * 40;
    world = await startWorld(worldSize);
    const leaves = makeLeaves(8, elements);
    const sent = async (as: "float32" | NarrowFormat) => {
      const before = bytesSent(world!);
      await reduce(world!, as, leaves);
      return bytesSent(world!).reduce((sum, bytes, rank) => sum + bytes - before[rank]! - headerBytes, 0);
    };
    // A rank's 2(W − 1)/W of the vector, W times: two bytes for each narrow element, four for each exact one.
    expect(await sent(format)).toBe(2 * (worldSize - 1) * (64_000 * 2 + exact * 4));
    expect(await sent("float32")).toBe(2 * (worldSize - 1) * elements * 4);
  });
});
