import { InvalidInputError } from "../errors";
import { type Category, compareCategories } from "../row-values";
import { type BoundStep, codeResult, fixed, numberResult } from "./bound-step";
import {
  coalesce,
  divide,
  missing,
  type NumberExpression,
  number,
  subtract,
  type TextExpression,
  text,
  wholeText,
} from "./expression";
import { numberOf, type Scope, textOf } from "./references";
import type { FittedValues, NamedStep, StepOf } from "./shapes";
import { type Categories, type TargetCell, type Targets, tooManyCategories } from "./statistics";
import { bucketOf, join, lookup, separator } from "./text-expressions";

/** Maximum number of categories of a one-hot, and of other encodings. */
export const maxOneHot = 1_000;
export const maxCategories = 10_000;

type CategoricalStep = NamedStep & StepOf<"one-hot" | "ordinal" | "hash" | "target">;

/** Returns the category's text, with the replacement of a missing one. */
function categoryOf(step: CategoricalStep, scope: Scope): TextExpression {
  const value = textOf(scope, step.column);
  return step.impute === undefined ? value : coalesce(value, text(step.impute));
}

/** Binds a one-hot or an ordinal number. */
export function bindVocabulary(step: NamedStep & StepOf<"one-hot" | "ordinal">, scope: Scope): BoundStep {
  const value = categoryOf(step, scope);
  const { type } = scope.get(step.column)!;
  return {
    statistics: step.values === undefined ? [{ kind: "categories", step: step.name, value }] : [],
    finish: ([state]) => ({ values: step.values ?? vocabularyOf(step, type, state as Categories) }),
    compile: ({ values = [] }) => {
      const code = lookup(value, new Map(values.map((each, index) => [String(each), index])));
      if (step.kind === "one-hot") return codeResult(step.name, code, values);
      return numberResult(step.name, coalesce(code, number(step.unknown)));
    },
  };
}

/** @throws TOO_MANY_VALUES */
function vocabularyOf(
  step: NamedStep & StepOf<"one-hot" | "ordinal">,
  type: string,
  { counts }: Categories,
): readonly Category[] {
  const kept = [...counts].filter(([, count]) => count >= step.minCount).map(([value]) => value);
  const limit = step.kind === "one-hot" ? maxOneHot : maxCategories;
  if (kept.length > limit) throw tooManyCategories(step.name, kept.length, limit, true);
  // A replacement of missing numbers and bools is text; `texts` keeps such a vocabulary as text.
  const texts = type === "text" || (step.impute !== undefined && counts.has(step.impute));
  const typed = kept.map((value): Category => (texts ? value : type === "bool" ? value === "true" : Number(value)));
  return typed.sort(compareCategories);
}

/** Binds a one-hot over hash buckets. It measures nothing, so new categories need no new fit. */
export function bindHash(step: NamedStep & StepOf<"hash">, scope: Scope): BoundStep {
  const vocabulary = Array.from({ length: step.buckets }, (_, i) => i);
  return fixed(codeResult(step.name, bucketOf(categoryOf(step, scope), step.buckets), vocabulary));
}

/**
 * Binds a target encoding: (sum + smoothing × mean) / (count + smoothing) of the category's target. Unseen and missing
 * categories have the mean. In a training row, both are over the rows of the other folds, so that no row's own target
 * is in its feature. The fold is a hash of a column, so that any engine finds the same fold; rows without it are in
 * fold 0.
 */
export function bindTarget(step: NamedStep & StepOf<"target">, scope: Scope): BoundStep {
  const value = categoryOf(step, scope);
  const fold = coalesce(bucketOf(textOf(scope, step.foldBy), step.folds), number(0));
  const target =
    step.positive === undefined
      ? numberOf(scope, step.target)
      : indicatorOf(textOf(scope, step.target), String(step.positive));
  return {
    statistics: [{ kind: "targets", step: step.name, value, target, fold }],
    finish: ([state]) => ({ targets: targetsOf(step, state as Targets) }),
    compile: ({ targets }, outOfFold) => {
      const { mean = 0, foldMeans = [], categories = [] } = targets ?? {};
      if (!outOfFold) {
        const means = new Map(categories.map((each) => [each.value, each.mean]));
        return numberResult(step.name, coalesce(lookup(value, means), number(mean)));
      }
      const foldText = wholeText(fold);
      const means = new Map(
        categories.flatMap((each) => each.foldMeans.map((own, i) => [`${i}${separator}${each.value}`, own] as const)),
      );
      const otherwise = lookup(foldText, new Map(foldMeans.map((own, i) => [String(i), own])));
      return numberResult(step.name, coalesce(lookup(join([foldText, value]), means), otherwise));
    },
  };
}

/** Returns 1 for the text `value` and 0 for all others; missing for a missing text, by the division by 0. */
function indicatorOf(label: TextExpression, value: string): NumberExpression {
  const isValue = coalesce(lookup(label, new Map([[value, 1]])), number(0));
  return divide(isValue, subtract(number(1), missing(label)));
}

/** @throws TOO_MANY_VALUES; InvalidInputError if no label is the positive value */
function targetsOf(
  { name, folds, smoothing, target, positive }: NamedStep & StepOf<"target">,
  { cells }: Targets,
): FittedValues["targets"] {
  if (cells.size > maxCategories) throw tooManyCategories(name, cells.size, maxCategories, false);
  const all = Array.from({ length: folds }, () => ({ count: 0, sum: 0 }));
  const found = [...cells]
    .map(([value, cell]) => ({ value, parts: all.map((_, fold) => cell.get(fold) ?? { count: 0, sum: 0 }) }))
    .sort((a, b) => compareCategories(a.value, b.value));
  for (const { parts } of found) {
    for (const [fold, { count, sum }] of parts.entries()) {
      all[fold]!.count += count;
      all[fold]!.sum += sum;
    }
  }
  if (positive !== undefined && all.every(({ sum }) => sum === 0)) {
    const rule = `must be a value of ${target} in the training rows`;
    throw new InvalidInputError("the plan does not fit the rows", [
      { path: `${name}.positive`, value: positive, rule },
    ]);
  }
  const without = (parts: readonly TargetCell[], fold?: number): TargetCell => {
    const used = parts.filter((_, i) => i !== fold);
    return { count: used.reduce((n, part) => n + part.count, 0), sum: used.reduce((n, part) => n + part.sum, 0) };
  };
  const meanOf = ({ count, sum }: TargetCell) => (count === 0 ? 0 : sum / count);
  const smoothed = (parts: readonly TargetCell[], fold?: number) => {
    const { count, sum } = without(parts, fold);
    const mean = meanOf(without(all, fold));
    return count + smoothing === 0 ? mean : (sum + smoothing * mean) / (count + smoothing);
  };
  return {
    mean: meanOf(without(all)),
    foldMeans: all.map((_, fold) => meanOf(without(all, fold))),
    categories: found.flatMap(({ value, parts }) =>
      value === null ? [] : { value, mean: smoothed(parts), foldMeans: all.map((_, fold) => smoothed(parts, fold)) },
    ),
  };
}

/** Binds a text of several columns, for an encoding of their combinations. */
export function bindCross(step: NamedStep & StepOf<"cross">, scope: Scope): BoundStep {
  const value = join(step.columns.map((column) => textOf(scope, column)));
  return fixed({ outputs: [], result: { type: "text", value } });
}
