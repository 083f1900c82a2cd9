import { InvalidInputError, type Problem } from "../errors";
import { pathText } from "../problems";
import type { Shape } from "../shapes";
import { parseYamlInput } from "../yaml-input";
import { named } from "./plan-columns";
import { consistencyProblems } from "./plan-problems";
import { type FeaturePlan, planFile } from "./shapes";

/**
 * Parses a plan's file.
 *
 * @throws InvalidInputError with every problem
 */
export function parseFeaturePlan(text: string, fileName = "plan.yaml"): FeaturePlan {
  const { value, lineOf } = parseYamlInput(fileName, text, planFile);
  return checkPlan(value, fileName, lineOf);
}

/**
 * Checks a plan that has the shape of a file.
 *
 * @param lineOf returns the line of a path, if the plan is a file's
 * @throws InvalidInputError with every problem
 */
export function checkPlan(
  value: Shape<typeof planFile>,
  what: string,
  lineOf?: (path: readonly PropertyKey[]) => number,
): FeaturePlan {
  const plan: FeaturePlan = { ...value, steps: value.steps.map(named) };
  const problems = consistencyProblems(plan);
  if (problems.length > 0) {
    const items = problems.map(
      ({ path, ...rest }): Problem => ({ ...rest, path: pathText(path), ...(lineOf ? { line: lineOf(path) } : {}) }),
    );
    throw new InvalidInputError(`${what} has ${items.length === 1 ? "a problem" : `${items.length} problems`}`, items);
  }
  return plan;
}
