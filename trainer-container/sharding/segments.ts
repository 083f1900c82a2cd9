import { normBlockCount, normBlockElements } from "../optimizer/clip";

/**
 * Vocabulary of the sharded optimizer. The P parameters are cut into W *segments* of whole norm blocks. Rank r *owns*
 * segment r: it reduces the segment's gradient and computes its new weights. The next rank, its *neighbour*, keeps a
 * *copy*: the same slots, updated by the same arithmetic. So each segment's slots are on two ranks, and a rank holds two
 * segments' slots: 2/W of all.
 */

/** Half-open range of elements. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the segment of `rank`: whole norm blocks, sizes within one block. Empty if there are fewer blocks than ranks. */
export function shardSegment(parameterCount: number, worldSize: number, rank: number): Span {
  const blocks = normBlockCount(parameterCount);
  const at = (place: number) => Math.min(parameterCount, Math.floor((place * blocks) / worldSize) * normBlockElements);
  return { start: at(rank), end: at(rank + 1) };
}

/** Returns the rank that keeps the copy of `rank`'s segment. */
export function neighbourOf(worldSize: number, rank: number): number {
  return (rank + 1) % worldSize;
}

/** Returns the rank whose segment `rank` copies. */
export function copiedBy(worldSize: number, rank: number): number {
  return (rank + worldSize - 1) % worldSize;
}

/** Returns the owners of the segments that `rank` holds: itself, then the rank whose segment it copies. */
export function heldSegments(worldSize: number, rank: number): readonly number[] {
  return worldSize === 1 ? [0] : [rank, copiedBy(worldSize, rank)];
}

/** Returns the part of `span` below `limit`. */
export function clip({ start, end }: Span, limit: number): Span {
  return { start: Math.min(start, limit), end: Math.min(end, limit) };
}

export function lengthOf({ start, end }: Span): number {
  return end - start;
}
