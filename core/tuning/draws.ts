import { normalDraw, uniformDraws } from "../evaluation/draws";

/** A source of random numbers that follows from a study's seed and a trial's number. */
export interface Draws {
  /** Returns a number in [0, 1). */
  uniform(): number;
  /** Returns a number of the standard normal distribution. */
  normal(): number;
  /** Returns a whole number in [0, below). */
  index(below: number): number;
}

/** Creates the source for one decision. The same keys give the same numbers. */
export function drawsFor(...keys: readonly number[]): Draws {
  const draw = uniformDraws(mixed(keys));
  const uniform = (): number => (draw() * 2_097_152 + (draw() >>> 11)) / 9_007_199_254_740_992; // 53 bits
  return { uniform, normal: () => normalDraw(draw), index: (below) => Math.floor(uniform() * below) };
}

/** Mixes whole numbers to a seed of 32 bits (the finalizer of MurmurHash3, Appleby). */
function mixed(keys: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const key of keys) {
    hash = Math.imul(hash ^ key, 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}
