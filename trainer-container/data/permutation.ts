import { createHash } from "node:crypto";

/** A permutation of `[0, size)` with random access. */
export interface Permutation {
  readonly size: number;
  /** Returns the image of element `index`. */
  at(index: number): number;
  /** Computes `into[i] = at(first + i)` in a third of the time per element: the rounds of four elements overlap. */
  range(first: number, into: Uint32Array): void;
}

/** Even. Luby and Rackoff need four rounds of ideal functions. These are not ideal, and small domains mix slowly. */
const rounds = 10;

/**
 * Returns a pseudo-random permutation that is computed element by element from a key. Nothing is stored, so any position of
 * any epoch costs the same. A Feistel network permutes `[0, 2^bits)`, the smallest power of two that holds `size`. A value
 * outside `[0, size)` is permuted again until it is inside (cycle walking: Black and Rogaway, "Ciphers with Arbitrary Finite
 * Domains", 2002), which takes fewer than two passes on average. If `bits` is odd, the high half is one bit wider.
 *
 * @param size at most 2³²
 */
export function keyedPermutation(size: number, key: string): Permutation {
  if (!Number.isInteger(size) || size < 1 || size > 2 ** 32) {
    throw new RangeError(`a permutation's size is ${size}, but must be a whole number from 1 to 2^32`);
  }
  if (size === 1) return { size, at: () => 0, range: (_first, into) => void into.fill(0) };

  const bits = Math.max(2, Math.ceil(Math.log2(size)));
  const lowBits = bits >>> 1;
  const lowMask = (1 << lowBits) - 1;
  const highMask = (1 << (bits - lowBits)) - 1;
  const lowSize = 2 ** lowBits;
  const roundKeys = roundKeysOf(key);

  const pass = (value: number): number => {
    // `>>> lowBits` uses the value's 32 bits, which hold everything below 2³².
    let high = value >>> lowBits;
    let low = value & lowMask;
    for (let round = 0; round < rounds; round += 2) {
      high = (high ^ mix(low, roundKeys[round]!)) & highMask;
      low = (low ^ mix(high, roundKeys[round + 1]!)) & lowMask;
    }
    return high * lowSize + low;
  };

  const at = (index: number): number => {
    let value = pass(index);
    while (value >= size) value = pass(value);
    return value;
  };

  /** Makes one pass over `into[i … i + 3]`. The rounds of one element are sequential; those of four elements overlap. */
  const passFour = (into: Uint32Array, i: number): void => {
    const [a, b, c, d] = [into[i]!, into[i + 1]!, into[i + 2]!, into[i + 3]!];
    let [highA, highB, highC, highD] = [a >>> lowBits, b >>> lowBits, c >>> lowBits, d >>> lowBits];
    let [lowA, lowB, lowC, lowD] = [a & lowMask, b & lowMask, c & lowMask, d & lowMask];
    for (let round = 0; round < rounds; round += 2) {
      const even = roundKeys[round]!;
      highA = (highA ^ mix(lowA, even)) & highMask;
      highB = (highB ^ mix(lowB, even)) & highMask;
      highC = (highC ^ mix(lowC, even)) & highMask;
      highD = (highD ^ mix(lowD, even)) & highMask;
      const odd = roundKeys[round + 1]!;
      lowA = (lowA ^ mix(highA, odd)) & lowMask;
      lowB = (lowB ^ mix(highB, odd)) & lowMask;
      lowC = (lowC ^ mix(highC, odd)) & lowMask;
      lowD = (lowD ^ mix(highD, odd)) & lowMask;
    }
    into[i] = (highA << lowBits) | lowA;
    into[i + 1] = (highB << lowBits) | lowB;
    into[i + 2] = (highC << lowBits) | lowC;
    into[i + 3] = (highD << lowBits) | lowD;
  };

  const passAll = (values: Uint32Array, count: number): void => {
    const fours = count - (count % 4);
    for (let i = 0; i < fours; i += 4) passFour(values, i);
    for (let i = fours; i < count; i += 1) values[i] = pass(values[i]!);
  };
  let places = new Uint32Array(0);
  let walking = new Uint32Array(0);

  return {
    size,
    at,
    range(first, into) {
      for (let i = 0; i < into.length; i += 1) into[i] = first + i;
      passAll(into, into.length);
      // Values outside the range walk on, four at a time; each pass has fewer of them.
      if (places.length < into.length) {
        places = new Uint32Array(into.length);
        walking = new Uint32Array(into.length);
      }
      let count = 0;
      for (let i = 0; i < into.length; i += 1) if (into[i]! >= size) places[count++] = i;
      while (count > 0) {
        for (let i = 0; i < count; i += 1) walking[i] = into[places[i]!]!;
        passAll(walking, count);
        let left = 0;
        for (let i = 0; i < count; i += 1) {
          into[places[i]!] = walking[i]!;
          if (walking[i]! >= size) places[left++] = places[i]!;
        }
        count = left;
      }
    },
  };
}

/** Computes MurmurHash3's 32-bit finaliser over the half and the round's key. */
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
