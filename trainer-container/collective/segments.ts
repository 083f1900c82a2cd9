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

export function chunkCount({ start, end }: Span, chunkElements: number): number {
  return Math.ceil((end - start) / chunkElements);
}

export function chunkOf(segment: Span, index: number, chunkElements: number): Span {
  const start = segment.start + index * chunkElements;
  return { start, end: Math.min(segment.end, start + chunkElements) };
}
