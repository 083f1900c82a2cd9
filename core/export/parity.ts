import { ExportParityError } from "./errors";

/** Of the larger of 1 and the value: probabilities by their difference, large values by their last digits. */
export const tolerance = 1e-5;

/**
 * The largest difference between what a file gives and what the platform gives, row by row.
 *
 * @throws ExportParityError beyond the tolerance, or where either is NaN and the other is not
 */
export function checkParity(file: string, found: ArrayLike<number>, expected: ArrayLike<number>, rows: number): number {
  if (found.length !== expected.length) throw new ExportParityError(file, Number.POSITIVE_INFINITY, tolerance, 0);
  const width = expected.length / rows;
  let largest = 0;
  for (let i = 0; i < expected.length; i += 1) {
    const [ours, theirs] = [expected[i]!, found[i]!];
    if (Object.is(ours, theirs)) continue;
    const difference = Math.abs(ours - theirs) / Math.max(1, Math.abs(ours));
    if (!(difference <= tolerance)) throw new ExportParityError(file, difference, tolerance, Math.floor(i / width));
    largest = Math.max(largest, difference);
  }
  return largest;
}
