import { InvalidInputError, type Problem } from "../errors";
import { pathText } from "../problems";
import type { Shape } from "../shapes";
import { parseYamlInput } from "../yaml-input";
import { type FeaturePlan, type NamedStep, type PlanStep, planFile } from "./shapes";

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
    const found = problems.map(
      ({ path, ...rest }): Problem => ({ ...rest, path: pathText(path), ...(lineOf ? { line: lineOf(path) } : {}) }),
    );
    throw new InvalidInputError(`${what} has ${found.length === 1 ? "a problem" : `${found.length} problems`}`, found);
  }
  return plan;
}

/** Returns the names of the columns or earlier results whose values a step encodes. */
export function encodedBy(step: PlanStep): readonly string[] {
  switch (step.kind) {
    case "ratio":
      return [step.numerator, step.denominator];
    case "product":
    case "cross":
      return step.columns;
    default:
      return [step.column];
  }
}

/** Returns the names of all columns and earlier results that a step reads. */
export function inputsOf(step: PlanStep): readonly string[] {
  return step.kind === "target" ? [step.column, step.target, step.foldBy] : encodedBy(step);
}

/** Returns the source columns whose values become features: those that serving needs. */
export function encodedColumnsOf(plan: FeaturePlan): readonly string[] {
  const results = new Set<string>();
  const columns = new Set<string>();
  for (const step of plan.steps) {
    for (const input of encodedBy(step)) if (!results.has(input)) columns.add(input);
    results.add(step.name);
  }
  return [...columns];
}

/** Returns the source columns that a plan reads, each once; for windows also those that identify a row. */
export function sourceColumnsOf(plan: FeaturePlan): readonly string[] {
  const results = new Set<string>();
  const columns = new Set<string>();
  for (const step of plan.steps) {
    for (const input of inputsOf(step)) if (!results.has(input)) columns.add(input);
    if (step.kind === "window") for (const name of [...plan.entities, plan.eventTime!]) columns.add(name);
    results.add(step.name);
  }
  return [...columns];
}

/** Gives a step without a name the default: the columns that it reads, and its kind. */
export function named(step: PlanStep): NamedStep {
  return { ...step, name: step.name ?? `${encodedBy(step).join("_")}_${step.kind}` };
}

/** Returns the names that a step defines: its result's, and those of its outputs. */
function namesOf(step: NamedStep): readonly string[] {
  const { name } = step;
  if (step.kind === "cycle") return [name, `${name}_sin`, `${name}_cos`];
  if (step.kind === "ngrams")
    return [name, ...Array.from({ length: step.buckets }, (_, bucket) => `${name}_${bucket}`)];
  return "indicator" in step && step.indicator ? [name, `${name}_missing`] : [name];
}

interface Finding extends Omit<Problem, "path"> {
  readonly path: readonly (string | number)[];
}

/** The rule that a window in the plan of a job breaks. */
export const noWindow =
  "must not be a window, which needs other rows of the entity: a run and its model read one row. Put the window into a feature view, and join it with the rows (ringmaster views join)";

/** Returns the problems of a plan that no single field has: those between its steps and between their options. */
export function consistencyProblems(plan: FeaturePlan): readonly Finding[] {
  const { steps } = plan;
  const found: Finding[] = [];
  if (plan.creationTime !== undefined && plan.eventTime === undefined) {
    found.push({ path: ["eventTime"], rule: "is required where creationTime is given" });
  }
  const names = new Map<string, number>();
  for (const [index, step] of steps.entries()) {
    const at = (key: string) => ["steps", index, key];
    const own = namesOf(step);
    const taken = own.find((name) => names.has(name.toLowerCase()));
    if (taken !== undefined) {
      const earlier = names.get(taken.toLowerCase())!;
      const rule =
        taken.toLowerCase() === steps[earlier]!.name.toLowerCase()
          ? `must differ from the name of step ${earlier + 1} (names are not case-sensitive); give the step a name`
          : `must not give a feature the name ${taken}, which step ${earlier + 1} gives; give the step another name`;
      found.push({ path: at("name"), value: step.name, rule });
    }
    for (const name of own) if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), index);
    if (step.kind === "bucketize") {
      const { boundaries, quantiles } = step;
      if ((boundaries === undefined) === (quantiles === undefined)) {
        found.push({ path: at("boundaries"), rule: "or quantiles is required, and not both" });
      }
      if (boundaries?.some((value, i) => i > 0 && value <= boundaries[i - 1]!)) {
        found.push({ path: at("boundaries"), value: boundaries, rule: "must be in ascending order, each once" });
      }
    }
    if (step.kind === "cycle" && (step.part === undefined) === (step.period === undefined)) {
      found.push({ path: at("part"), rule: "(of a time) or period (of a number) is required, and not both" });
    }
    if (step.kind === "window") {
      if (plan.entities.length === 0) found.push({ path: ["entities"], rule: "are required for a window" });
      if (plan.eventTime === undefined) found.push({ path: ["eventTime"], rule: "is required for a window" });
      const results = new Set(steps.slice(0, index).map(({ name }) => name.toLowerCase()));
      if (inputsOf(step).some((input) => results.has(input.toLowerCase()))) {
        const rule = "must be a column of the source, not the result of a step";
        found.push({ path: at("column"), value: step.column, rule });
      }
    }
    if ((step.kind === "one-hot" || step.kind === "ordinal") && step.values) {
      const { values } = step;
      if (new Set(values.map(String)).size < values.length) {
        found.push({ path: at("values"), value: values, rule: "must have each value once" });
      }
    }
  }
  return found;
}
