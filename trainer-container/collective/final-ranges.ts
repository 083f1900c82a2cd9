import type { Span } from "./segments";

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
