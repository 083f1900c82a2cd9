export type Algorithm = "direct" | "halving-doubling";

export interface Reduction {
  readonly worldSize: number;
  /** V. */
  readonly microshards: number;
  /** Of the vector. */
  readonly elements: number;
}

/** Largest world in which every rank is connected to every other. */
export const fullMeshWorkers = 64;
/** From here on many small messages cost more than several latencies: docs/scale.md tabulates both. */
const manyRanks = 16;
/** Bytes of a segment from which its message's own cost matters less than that the direct exchange overlaps adding, sending and receiving. */
const largeSegmentBytes = 32 * 1024;

/**
 * How a vector is summed. All ranks must choose alike, so that this depends on nothing else; the bits are the same either way.
 *
 * - The direct exchange takes two message latencies, but W − 1 messages each way and W − 1 connections: best for few ranks.
 * - Halving and doubling takes 2·log2 W latencies, as many messages, and log2 W connections. It needs V to be a power of two, for only then is
 *   the canonical tree's top balanced; where W is no power of two it sends whole partial sums before and whole results after, up to twice the bytes.
 */
export function chooseAlgorithm({ worldSize, microshards, elements }: Reduction): Algorithm {
  if (!isPowerOfTwo(microshards) || worldSize < manyRanks) return "direct";
  if (worldSize > fullMeshWorkers) return "halving-doubling";
  return elements * 4 <= worldSize * largeSegmentBytes ? "halving-doubling" : "direct";
}

function isPowerOfTwo(value: number): boolean {
  return value > 0 && (value & (value - 1)) === 0;
}
