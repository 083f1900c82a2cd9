import type { Problem } from "../../core/errors";
import { pathText } from "../../core/problems";

/** Sizes of DynamoDB's numbers: 38 digits, 1E-130 to 9.99…E+125, or 0. Beyond lies what JSON reads as infinite, too. */
const largest = 9.99e125;
const smallest = 1e-130;

/**
 * What of a body no table could hold. Schemas look at the members that they know; a user's own options go through as they are.
 * @param value JSON, of limited depth
 */
export function unstorableParts(value: unknown, path: readonly PropertyKey[] = []): readonly Problem[] {
  if (typeof value === "number") {
    const size = Math.abs(value);
    if (value === 0 || (size >= smallest && size <= largest)) return [];
    const rule = `must be 0, or between ${smallest} and ${largest} in size: that is what the tables hold`;
    return [{ path: pathText(path), value: Number.isFinite(value) ? value : String(value), rule }];
  }
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, member]) =>
    unstorableParts(member, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}
