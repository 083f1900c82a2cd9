import type { Problem } from "../errors";
import { inputsOf } from "./plan-columns";
import type { FeaturePlan, NamedStep } from "./shapes";

export interface Finding extends Omit<Problem, "path"> {
  readonly path: readonly (string | number)[];
}

/** The rule that a window in the plan of a job breaks. */
export const noWindow =
  "must not be a window, which needs other rows of the entity: a run and its model read one row. Put the window into a feature view, and join it with the rows (ringmaster views join)";

export function consistencyProblems(plan: FeaturePlan): readonly Finding[] {
  const { steps } = plan;
  const findings: Finding[] = [];
  if (plan.creationTime !== undefined && plan.eventTime === undefined) {
    findings.push({ path: ["eventTime"], rule: "is required where creationTime is given" });
  }
  /** The first step that defines each name, in lower case. */
  const definedBy = new Map<string, number>();
  for (const [index, step] of steps.entries()) {
    const stepNames = namesOf(step).map((name) => ({ name, lower: name.toLowerCase() }));
    const taken = stepNames.find(({ lower }) => definedBy.has(lower));
    if (taken !== undefined) {
      const earlier = definedBy.get(taken.lower)!;
      const rule =
        taken.lower === steps[earlier]!.name.toLowerCase()
          ? `must differ from the name of step ${earlier + 1} (names are not case-sensitive); give the step a name`
          : `must not give a feature the name ${taken.name}, which step ${earlier + 1} gives; give the step another name`;
      findings.push({ path: ["steps", index, "name"], value: step.name, rule });
    }
    for (const { lower } of stepNames) if (!definedBy.has(lower)) definedBy.set(lower, index);
    if (step.kind === "window") findings.push(...placeProblems(plan));
    for (const problem of optionProblems(step, steps.slice(0, index))) {
      findings.push({ ...problem, path: ["steps", index, problem.path] });
    }
  }
  return findings;
}

/** Returns what a plan with windows lacks. */
function placeProblems({ entities, eventTime }: FeaturePlan): readonly Finding[] {
  return [
    ...(entities.length === 0 ? [{ path: ["entities"], rule: "are required for a window" }] : []),
    ...(eventTime === undefined ? [{ path: ["eventTime"], rule: "is required for a window" }] : []),
  ];
}

/** Returns the problems between the options of a step, with the name of an option as path. */
function optionProblems(step: NamedStep, earlier: readonly NamedStep[]): readonly Problem[] {
  switch (step.kind) {
    case "bucketize":
      return boundaryProblems(step.boundaries, step.quantiles);
    case "cycle":
      if ((step.part === undefined) !== (step.period === undefined)) return [];
      return [{ path: "part", rule: "(of a time) or period (of a number) is required, and not both" }];
    case "window": {
      const results = new Set(earlier.map(({ name }) => name.toLowerCase()));
      if (!inputsOf(step).some((input) => results.has(input.toLowerCase()))) return [];
      const rule = "must be a column of the source, not the result of a step";
      return [{ path: "column", value: step.column, rule }];
    }
    case "one-hot":
    case "ordinal": {
      const { values = [] } = step;
      if (new Set(values.map(String)).size === values.length) return [];
      return [{ path: "values", value: values, rule: "must have each value once" }];
    }
    default:
      return [];
  }
}

function boundaryProblems(boundaries: readonly number[] | undefined, quantiles: number | undefined) {
  const problems: Problem[] = [];
  if ((boundaries === undefined) === (quantiles === undefined)) {
    problems.push({ path: "boundaries", rule: "or quantiles is required, and not both" });
  }
  if (boundaries?.some((value, i) => i > 0 && value <= boundaries[i - 1]!)) {
    problems.push({ path: "boundaries", value: boundaries, rule: "must be in ascending order, each once" });
  }
  return problems;
}

/** Returns the names that a step defines: its result's, and those of its outputs. */
function namesOf(step: NamedStep): readonly string[] {
  const { name } = step;
  if (step.kind === "cycle") return [name, `${name}_sin`, `${name}_cos`];
  if (step.kind === "ngrams")
    return [name, ...Array.from({ length: step.buckets }, (_, bucket) => `${name}_${bucket}`)];
  return "indicator" in step && step.indicator ? [name, `${name}_missing`] : [name];
}
