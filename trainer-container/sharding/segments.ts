import { normBlockCount, normBlockElements } from "../optimizer/clip";

/**
 * Vocabulary of the sharded optimizer. The P parameters are cut into W *segments* of whole norm blocks. Rank r *owns* segment r: it reduces the
 * segment's gradient and computes its new weights. The rank after it, its *neighbour*, keeps a *copy*: the same slots, brought forward by the
 * same arithmetic. So each segment's slots live on two ranks, and a rank holds two segments' slots: 2/W of all.
 */

/** Half-open range of elements. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Segment of `rank`: whole norm blocks, balanced within one block, so empty where there are fewer blocks than ranks. */
export function shardSegment(parameterCount: number, worldSize: number, rank: number): Span {
  const blocks = normBlockCount(parameterCount);
  const at = (place: number) => Math.min(parameterCount, Math.floor((place * blocks) / worldSize) * normBlockElements);
  return { start: at(rank), end: at(rank + 1) };
}

/** Who keeps the copy of `rank`'s segment. */
export function neighbourOf(worldSize: number, rank: number): number {
  return (rank + 1) % worldSize;
}

/** Whose segment `rank` keeps a copy of. */
export function copiedBy(worldSize: number, rank: number): number {
  return (rank + worldSize - 1) % worldSize;
}

/** Owners of the segments that `rank` holds: itself, then the one whose copy it keeps. */
export function heldSegments(worldSize: number, rank: number): readonly number[] {
  return worldSize === 1 ? [0] : [rank, copiedBy(worldSize, rank)];
}

/** The part of `span` below `end`. */
export function clip({ start, end }: Span, limit: number): Span {
  return { start: Math.min(start, limit), end: Math.min(end, limit) };
}

export function lengthOf({ start, end }: Span): number {
  return end - start;
}
