import type { Span } from "./segments";

/**
 * Returns the part of a span that a host holds after `steps` halvings. At each distance 2^k the host whose position has
 * bit k clear keeps the lower half, and the other keeps the upper. Two hosts that differ only in bit k share all earlier
 * halves.
 */
export function halvingSpan(whole: Span, place: number, steps: number): Span {
  let { start, end } = whole;
  for (let k = 0; k < steps; k++) {
    const middle = start + ((end - start) >> 1);
    if ((place >> k) & 1) start = middle;
    else end = middle;
  }
  return { start, end };
}
