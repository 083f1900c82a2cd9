export type Algorithm = "direct" | "halving-doubling";

export interface Reduction {
  readonly worldSize: number;
  /** V. */
  readonly microBatches: number;
  /** Number of elements of the vector. */
  readonly elements: number;
}

/** Largest world in which every rank is connected to every other. */
export const fullMeshWorkers = 64;
/** From this world size on, many small messages cost more than several latencies: docs/scale.md has the numbers. */
const manyRanks = 16;
/** Segment size in bytes from which the overlap of the direct exchange outweighs the fixed cost of messages. */
const largeSegmentBytes = 32 * 1024;

/**
 * Chooses the algorithm for a vector. All ranks must choose alike, so the choice depends only on these arguments. The bits
 * are the same for both.
 *
 * - The direct exchange takes two message latencies, but W − 1 messages in each direction and W − 1 connections: best for
 *   few ranks.
 * - Halving and doubling takes 2·log2 W latencies, as many messages, and log2 W connections. V must be a power of two,
 *   because only then is the top of the canonical tree balanced. If W is no power of two, whole partial sums are sent
 *   before and whole results after, up to twice the bytes.
 */
export function chooseAlgorithm({ worldSize, microBatches, elements }: Reduction): Algorithm {
  if (!isPowerOfTwo(microBatches) || worldSize < manyRanks) return "direct";
  if (worldSize > fullMeshWorkers) return "halving-doubling";
  return elements * 4 <= worldSize * largeSegmentBytes ? "halving-doubling" : "direct";
}

export function isPowerOfTwo(value: number): boolean {
  return value > 0 && (value & (value - 1)) === 0;
}
