import type { Span } from "./segments";

/**
 * What a host holds of a span after `steps` halvings: at each distance 2^k the one whose place has bit k clear keeps the
 * lower half, the other one the upper. Two hosts that differ in bit k alone share all halves before it.
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
