/**
 * A vector is cut into W *segments*; rank r *owns* segment r and sums it. Segments are sent in *chunks*, to overlap.
 */

/** Half-open range of elements of the vector. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns segment `rank` of n elements over W ranks. Sizes differ by at most one. It is empty if n < W. */
export function segmentOf(elements: number, worldSize: number, rank: number): Span {
  return {
    start: Math.floor((rank * elements) / worldSize),
    end: Math.floor(((rank + 1) * elements) / worldSize),
  };
}

const minChunkElements = 128 * 1024;
const maxChunkElements = 512 * 1024;
/** Number of chunks of a segment, so that additions, sends and receives overlap. */
const chunksPerSegment = 4;

/** 512 KiB to 2 MiB, a multiple of 4 KiB. A frame's calls and wake-ups do not depend on its size. */
export function directChunkElements(elements: number, worldSize: number): number {
  const wanted = Math.ceil(elements / worldSize / chunksPerSegment / 1024) * 1024;
  return Math.min(maxChunkElements, Math.max(minChunkElements, wanted));
}

/** Returns the number of chunks of a span; the last one may be shorter. */
export function chunkCount({ start, end }: Span, chunkElements: number): number {
  return Math.ceil((end - start) / chunkElements);
}

export function chunkOf(segment: Span, index: number, chunkElements: number): Span {
  const start = segment.start + index * chunkElements;
  return { start, end: Math.min(segment.end, start + chunkElements) };
}

/** Halving k keeps the lower half if bit k of the position is clear, otherwise the upper. */
export function halvingSpan(whole: Span, position: number, halvings: number): Span {
  let { start, end } = whole;
  for (let k = 0; k < halvings; k++) {
    const middle = start + ((end - start) >> 1);
    if ((position >> k) & 1) start = middle;
    else end = middle;
  }
  return { start, end };
}

/** The final elements of a vector, reported as ranges in any order. */
export class FinalRanges {
  /** Disjoint, not adjacent, ascending. */
  private spans: readonly Span[] = [];

  add({ start, end }: Span): void {
    if (end <= start) return;
    const apart = this.spans.filter((span) => span.end < start || span.start > end);
    const touching = this.spans.filter((span) => span.end >= start && span.start <= end);
    const merged = {
      start: Math.min(start, ...touching.map((span) => span.start)),
      end: Math.max(end, ...touching.map((span) => span.end)),
    };
    this.spans = [...apart, merged].sort((a, b) => a.start - b.start);
  }

  covers({ start, end }: Span): boolean {
    return this.spans.some((span) => span.start <= start && span.end >= end);
  }
}
