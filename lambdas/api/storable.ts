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
    const rule = `must be 0, or between ${smallest} and ${largest} in magnitude, which is the range of the database`;
    return [{ path: pathText(path), value: Number.isFinite(value) ? value : String(value), rule }];
  }
  if (typeof value === "string") {
    const problem = textProblem(value);
    return problem === undefined ? [] : [{ path: pathText(path), value, rule: problem }];
  }
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    const problem = keyProblem(key);
    return problem === undefined ? unstorableParts(member, at) : [{ path: pathText(at), rule: problem }];
  });
}

/** The first text or key of an MLflow request that would not be kept as it is: their numbers have rules of their own. */
export function unstorableText(value: unknown): string | undefined {
  if (typeof value === "string") return textProblem(value);
  if (value === null || typeof value !== "object") return undefined;
  for (const [key, member] of Object.entries(value)) {
    const problem = keyProblem(key) ?? unstorableText(member);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** In UTF-8 half of a surrogate pair becomes U+FFFD: two texts would become one, and what is read is not what was written. */
function textProblem(text: string): string | undefined {
  return /\p{Surrogate}/u.test(text) ? "must be well-formed Unicode: it has an unpaired surrogate" : undefined;
}

/** Maps that go through objects lose it without a word. */
function keyProblem(key: string): string | undefined {
  return key === "__proto__" ? "must not be a key, because a JavaScript object cannot store it" : textProblem(key);
}
