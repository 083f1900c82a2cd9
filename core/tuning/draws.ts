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

/** Returns the distribution function of the standard normal, with an absolute error below 7.5e-8 (Abramowitz and Stegun, 26.2.17). */
export function normalCdf(x: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = normalPdf(x) * poly;
  return x >= 0 ? 1 - tail : tail;
}

export function normalPdf(x: number): number {
  return Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
}
