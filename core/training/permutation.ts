import { createHash } from "node:crypto";

/** A permutation of `[0, size)` with random access. */
export interface Permutation {
  readonly size: number;
  /** Where element `index` goes; each value of `[0, size)` for exactly one index. */
  at(index: number): number;
}

/** Even. Luby and Rackoff need four rounds of ideal functions; these are not ideal, and tiny domains mix slowly. */
const rounds = 10;

/**
 * A pseudo-random permutation from a key, computed element by element: nothing is stored, so any place of any epoch costs the
 * same, whatever the size. A Feistel network permutes `[0, 2^bits)`, the least power of two that holds `size`; a value past the end is
 * put through again until it falls inside (cycle walking: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002),
 * which takes fewer than two passes on average. Where `bits` is odd the high half is one bit wider.
 *
 * @param size at most 2³²
 */
export function keyedPermutation(size: number, key: string): Permutation {
  if (!Number.isInteger(size) || size < 1 || size > 2 ** 32) {
    throw new RangeError(`a permutation's size is ${size}, but must be a whole number from 1 to 2^32`);
  }
  if (size === 1) return { size, at: () => 0 };

  const bits = Math.max(2, Math.ceil(Math.log2(size)));
  const lowBits = bits >>> 1;
  const lowMask = (1 << lowBits) - 1;
  const highMask = (1 << (bits - lowBits)) - 1;
  const lowSize = 2 ** lowBits;
  const roundKeys = roundKeysOf(key);

  const pass = (value: number): number => {
    // `>>> lowBits` takes the value's 32 bits, which hold everything below 2³².
    let high = value >>> lowBits;
    let low = value & lowMask;
    for (let round = 0; round < rounds; round += 2) {
      high = (high ^ mix(low, roundKeys[round]!)) & highMask;
      low = (low ^ mix(high, roundKeys[round + 1]!)) & lowMask;
    }
    return high * lowSize + low;
  };

  return {
    size,
    at(index) {
      let value = pass(index);
      while (value >= size) value = pass(value);
      return value;
    },
  };
}

/** MurmurHash3's 32-bit finaliser over the half and the round's key. */
function mix(half: number, roundKey: number): number {
  let h = Math.imul(half ^ roundKey, 0x9e3779b1);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h + roundKey, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function roundKeysOf(key: string): Int32Array {
  const keys = new Int32Array(rounds);
  const digest = createHash("sha512").update(key).digest();
  for (let round = 0; round < rounds; round += 1) keys[round] = digest.readInt32LE(round * 4);
  return keys;
}
