import type { Problem } from "../../core/errors";
import { pathText } from "../../core/problems";
import { isStorable, storedNumbers } from "../../core/shapes";
import { maxProblems } from "./first-problems";

/**
 * Finds the parts of a body that no table could store. Schemas check only the members that they know; a user's own
 * options pass unchanged.
 *
 * @param value JSON of limited depth
 */
export function unstorableParts(value: unknown): readonly Problem[] {
  const problems: Problem[] = [];
  visit(value, [], problems);
  return problems;
}

/** Changes one path in place, because a copy for each of 300,000 values would take most of the time. */
function visit(value: unknown, path: PropertyKey[], problems: Problem[]): void {
  if (problems.length >= maxProblems) return;
  if (typeof value === "number") {
    if (isStorable(value)) return;
    const { smallest, largest } = storedNumbers;
    const rule = `must be 0, or between ${smallest} and ${largest} in magnitude, which is the range of the database`;
    problems.push({ path: pathText(path), value: Number.isFinite(value) ? value : String(value), rule });
  } else if (typeof value === "string") {
    const problem = textProblem(value);
    if (problem !== undefined) problems.push({ path: pathText(path), value, rule: problem });
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      path.push(i);
      visit(value[i], path, problems);
      path.pop();
    }
  } else if (value !== null && typeof value === "object") {
    for (const [key, member] of Object.entries(value)) {
      path.push(key);
      const problem = keyProblem(key);
      if (problem === undefined) visit(member, path, problems);
      else problems.push({ path: pathText(path), rule: problem });
      path.pop();
    }
  }
}

/**
 * Returns the first text or key of an MLflow request that could not be stored unchanged. Numbers of MLflow requests
 * have other rules.
 */
export function unstorableText(value: unknown): string | undefined {
  if (typeof value === "string") return textProblem(value);
  if (value === null || typeof value !== "object") return undefined;
  for (const [key, member] of Object.entries(value)) {
    const problem = keyProblem(key) ?? unstorableText(member);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Returns why a text cannot be stored. In UTF-8, half of a surrogate pair becomes U+FFFD: two texts would become equal.
 */
function textProblem(text: string): string | undefined {
  return /\p{Surrogate}/u.test(text) ? "must be well-formed Unicode: it has an unpaired surrogate" : undefined;
}

/** Returns why a key cannot be stored. Maps that are converted to objects silently lose it. */
function keyProblem(key: string): string | undefined {
  return key === "__proto__" ? "must not be a key, because a JavaScript object cannot store it" : textProblem(key);
}
