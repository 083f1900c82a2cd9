import { exportParity } from "../../core/export";

/** Tolerance relative to the larger of 1 and the value: absolute for probabilities, relative for large values. */
export const tolerance = 1e-5;

/** Returns the largest difference between two predictions. @throws EXPORT_DIFFERS if it exceeds the tolerance */
export function checkParity(file: string, found: ArrayLike<number>, expected: ArrayLike<number>, rows: number): number {
  if (found.length !== expected.length) throw exportParity(file, Number.POSITIVE_INFINITY, tolerance, 0);
  const width = expected.length / rows;
  let largest = 0;
  for (let i = 0; i < expected.length; i += 1) {
    const [ours, theirs] = [expected[i]!, found[i]!];
    if (Object.is(ours, theirs)) continue;
    const difference = Math.abs(ours - theirs) / Math.max(1, Math.abs(ours));
    if (!(difference <= tolerance)) throw exportParity(file, difference, tolerance, Math.floor(i / width));
    largest = Math.max(largest, difference);
  }
  return largest;
}
