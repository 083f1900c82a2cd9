/**
 * Vocabulary. A vector of n elements is cut into W *segments*; rank r *owns* segment r: it receives everyone's partial sums of it and sends
 * everyone the result. A segment is sent in *chunks*, so that adding, sending and receiving overlap.
 */

/** Half-open range of elements of the vector. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Segment `rank` of n elements over W ranks: balanced within one, empty where n < W. */
export function segmentOf(elements: number, worldSize: number, rank: number): Span {
  return {
    start: Math.floor((rank * elements) / worldSize),
    end: Math.floor(((rank + 1) * elements) / worldSize),
  };
}

const smallestChunk = 128 * 1024;
const largestChunk = 512 * 1024;
/** Chunks of a segment that let adding, sending and receiving overlap. */
const pipelined = 4;

/**
 * Chunk of a direct all-reduce, in elements: 512 KiB to 2 MiB. What a frame costs in calls and wake-ups does not grow with it, so that
 * large segments go in large chunks; a multiple of 4 KiB.
 */
export function directChunkElements(elements: number, worldSize: number): number {
  const wanted = Math.ceil(elements / worldSize / pipelined / 1024) * 1024;
  return Math.min(largestChunk, Math.max(smallestChunk, wanted));
}

export function chunkCount({ start, end }: Span, chunkElements: number): number {
  return Math.ceil((end - start) / chunkElements);
}

export function chunkOf(segment: Span, index: number, chunkElements: number): Span {
  const start = segment.start + index * chunkElements;
  return { start, end: Math.min(segment.end, start + chunkElements) };
}
