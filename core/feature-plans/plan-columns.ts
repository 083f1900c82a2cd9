import type { FeaturePlan, NamedStep, PlanStep } from "./shapes";

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
