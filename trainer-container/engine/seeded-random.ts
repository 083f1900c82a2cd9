import { createHash } from "node:crypto";

/** xoshiro128** 1.1 (Blackman and Vigna, 2018) from the first 16 bytes of the key's SHA-256. */
export function seededIntegers(key: string): () => number {
  const digest = createHash("sha256").update(key).digest();
  let a = digest.readInt32LE(0);
  let b = digest.readInt32LE(4);
  let c = digest.readInt32LE(8);
  let d = digest.readInt32LE(12) | 1; // the all-zero state is a fixed point
  return () => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9);
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return result >>> 0;
  };
}

/** Returns a generator of doubles in [0, 1), each of 53 bits of two integers of `seededIntegers`. */
export function seededRandom(key: string): () => number {
  const next = seededIntegers(key);
  return () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53;
}

/**
 * Runs the synchronous `body` with `Math.random` seeded by `key`: initial weights and user code become reproducible.
 */
export function withSeededRandom<T>(key: string, body: () => T): T {
  const original = Math.random;
  Math.random = seededRandom(key);
  try {
    return body();
  } finally {
    Math.random = original;
  }
}
