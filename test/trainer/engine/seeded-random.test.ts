import { createHash } from "node:crypto";
import { seededRandom, withSeededRandom } from "../../../trainer-container/engine/seeded-random";

/** xoshiro128** as its authors' C has it, in big integers. */
function reference(key: string, count: number): number[] {
  const mask = 0xffffffffn;
  const rotate = (x: bigint, k: bigint): bigint => ((x << k) | (x >> (32n - k))) & mask;
  const digest = createHash("sha256").update(key).digest();
  const s = [0, 4, 8, 12].map((at) => BigInt(digest.readUInt32LE(at)));
  s[3]! |= 1n;
  const next = (): number => {
    const result = (rotate((s[1]! * 5n) & mask, 7n) * 9n) & mask;
    const t = (s[1]! << 9n) & mask;
    s[2]! ^= s[0]!;
    s[3]! ^= s[1]!;
    s[1]! ^= s[2]!;
    s[0]! ^= s[3]!;
    s[2]! ^= t;
    s[3] = rotate(s[3]!, 11n);
    return Number(result);
  };
  return Array.from({ length: count }, () => (Math.floor(next() / 32) * 2 ** 26 + Math.floor(next() / 64)) / 2 ** 53);
}

describe("seededRandom", () => {
  it.each(["", "initialise 1", "seed 7 step 3 microshard 0", "ü"])("is xoshiro128** seeded by the key: %p", (key) => {
    const random = seededRandom(key);
    expect(Array.from({ length: 50 }, random)).toEqual(reference(key, 50));
  });

  it("fills [0, 1) evenly", () => {
    const random = seededRandom("even");
    const bins = new Array<number>(10).fill(0);
    for (let i = 0; i < 100_000; i++) bins[Math.floor(random() * 10)]!++;
    for (const count of bins) expect(Math.abs(count - 10_000)).toBeLessThan(400); // σ = 95
  });
});

describe("withSeededRandom", () => {
  it("seeds Math.random for the call, nests, and puts it back", () => {
    const original = Math.random;
    const draws = withSeededRandom("outer", () => {
      const first = Math.random();
      const inner = withSeededRandom("inner", () => Math.random());
      return [first, inner, Math.random()];
    });
    const outer = seededRandom("outer");
    expect(draws).toEqual([outer(), seededRandom("inner")(), outer()]);
    expect(Math.random).toBe(original);
  });

  it("puts it back when the call throws", () => {
    const original = Math.random;
    expect(() =>
      withSeededRandom("k", () => {
        throw new Error("boom");
      }),
    ).toThrow("boom");
    expect(Math.random).toBe(original);
  });
});
