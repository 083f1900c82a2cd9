import { type BoundStep, fixed, type Intermediate, numberResult } from "./bound-step";
import { bindCross, bindHash, bindTarget, bindVocabulary } from "./categorical-steps";
import { type TextExpression, variable } from "./expression";
import { bindNumeric, bindProduct, bindRatio } from "./numeric-steps";
import { type Scope, textOf } from "./references";
import type { FeaturePlan, NamedStep, PlanColumn, StepOf } from "./shapes";
import { countIn, ngramBuckets, textLength } from "./text-expressions";
import { bindCycle, bindDate, bindWindow, windowsOf } from "./time-steps";

/** Binds a step to the columns and results that it reads; they have been checked (`checkTypes`). */
export function bindStep(step: NamedStep, scope: Scope): BoundStep {
  switch (step.kind) {
    case "one-hot":
    case "ordinal":
      return bindVocabulary(step, scope);
    case "hash":
      return bindHash(step, scope);
    case "target":
      return bindTarget(step, scope);
    case "cross":
      return bindCross(step, scope);
    case "length":
      return fixed(numberResult(step.name, textLength(textOf(scope, step.column))));
    case "ngrams":
      return bindNgrams(step);
    case "date":
      return bindDate(step, scope);
    case "cycle":
      return bindCycle(step, scope);
    case "window":
      return bindWindow(step);
    case "ratio":
      return bindRatio(step, scope);
    case "product":
      return bindProduct(step, scope);
    default:
      return bindNumeric(step, scope);
  }
}

/** Binds counts of n-grams of characters by hash bucket. */
function bindNgrams(step: NamedStep & StepOf<"ngrams">): BoundStep {
  const list = variable<readonly number[]>(ngramsName(step));
  return fixed({
    outputs: Array.from({ length: step.buckets }, (_, bucket) => ({
      kind: "number" as const,
      name: `${step.name}_${bucket}`,
      value: countIn(list, bucket),
    })),
  });
}

function ngramsName(step: NamedStep): string {
  return `ngrams:${step.name}`;
}

/** Returns the values that expressions of the plan read as variables: windows, and lists of n-grams. */
export function intermediatesOf(plan: FeaturePlan, columns: readonly PlanColumn[]): readonly Intermediate[] {
  const lists = plan.steps
    .filter((step) => step.kind === "ngrams")
    .map((step) => {
      const column: TextExpression = variable(step.column);
      return { name: ngramsName(step), value: ngramBuckets(column, step) };
    });
  return [...windowsOf(plan, columns), ...lists];
}
