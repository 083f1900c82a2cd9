import { InvalidInputError } from "../errors";
import { type Category, compareCategories } from "../row-values";
import { type BoundStep, type CompiledStep, codeResult, fixed, type Intermediate, numberResult } from "./bound-step";
import {
  add,
  bucketIndex,
  clamp,
  coalesce,
  divide,
  finite,
  ln,
  missing,
  multiply,
  type NumberExpression,
  number,
  subtract,
  type TextExpression,
  text,
  variable,
  wholeText,
} from "./expression";
import { numberOf, type Scope, textOf } from "./references";
import type { FeaturePlan, FittedValues, NamedStep, PlanColumn, StepOf } from "./shapes";
import {
  type Categories,
  emptySummary,
  type Quantiles,
  quantiles,
  type State,
  type Statistic,
  type Summary,
  type TargetCell,
  type Targets,
  tooManyCategories,
} from "./statistics";
import { bucketOf, countIn, join, lookup, ngramBuckets, separator, textLength } from "./text-expressions";
import { bindCycle, bindDate, bindWindow, windowsOf } from "./time-steps";

type NumericStep = NamedStep & StepOf<"number" | "standardize" | "minmax" | "robust" | "log" | "bucketize">;

function bindNumeric(step: NumericStep, scope: Scope): BoundStep {
  const value = numberOf(scope, step.column);
  const needsSummary = step.kind === "standardize" || step.kind === "minmax" || step.impute === "mean";
  const needsQuantiles =
    step.kind === "robust" || step.impute === "median" || (step.kind === "bucketize" && step.quantiles !== undefined);
  const statistics: Statistic[] = [];
  if (needsSummary) statistics.push({ kind: "summary", value });
  if (needsQuantiles) statistics.push({ kind: "quantiles", value });
  return {
    statistics,
    finish: (states) => fitNumeric(step, states),
    compile: (fitted) => compileNumeric(step, value, fitted),
  };
}

function fitNumeric(step: NumericStep, states: readonly State[]): FittedValues {
  const summary = states.find((state): state is Summary => state.kind === "summary") ?? emptySummary;
  const counts = states.find((state): state is Quantiles => state.kind === "quantiles");
  const at = (probabilities: readonly number[]) => counts && quantiles(counts, probabilities);
  const fill = typeof step.impute === "number" ? step.impute : step.impute === "mean" ? summary.mean : at([0.5])?.[0];
  return { ...(step.impute === undefined ? {} : { fill: fill ?? 0 }), ...scaling(step, summary, at) };
}

function scaling(
  step: NumericStep,
  { count, mean, squares, minimum, maximum }: Summary,
  at: (probabilities: readonly number[]) => readonly number[] | undefined,
): FittedValues {
  switch (step.kind) {
    case "standardize": {
      const deviation = count === 0 ? 0 : Math.sqrt(squares / count);
      // In a constant column rounding leaves a tiny variance, which must not become a divisor.
      return { center: mean, scale: deviation > Math.abs(mean) * 1e-12 ? deviation : 1 };
    }
    case "minmax":
      return count === 0 ? { center: 0, scale: 1 } : { center: minimum, scale: maximum - minimum || 1 };
    case "robust": {
      const [lower = 0, median = 0, upper = 0] = at([0.25, 0.5, 0.75]) ?? [];
      return { center: median, scale: upper - lower || 1 };
    }
    case "bucketize": {
      if (step.quantiles === undefined) return {};
      const parts = step.quantiles;
      const cuts = at(Array.from({ length: parts - 1 }, (_, i) => (i + 1) / parts)) ?? [];
      return { boundaries: [...new Set(cuts)] };
    }
    default:
      return {};
  }
}

function compileNumeric(step: NumericStep, value: NumberExpression, fitted: FittedValues): CompiledStep {
  const filled = fitted.fill === undefined ? value : coalesce(value, number(fitted.fill));
  const result =
    step.kind === "bucketize"
      ? bucketized(step, filled, fitted.boundaries ?? step.boundaries ?? [])
      : numberResult(step.name, formula(step, filled, fitted));
  if (!step.indicator) return result;
  const indicator = { kind: "number" as const, name: `${step.name}_missing`, value: missing(value) };
  return { ...result, outputs: [...result.outputs, indicator] };
}

function bucketized(step: NumericStep, value: NumberExpression, boundaries: readonly number[]): CompiledStep {
  const vocabulary = Array.from({ length: boundaries.length + 1 }, (_, i) => i);
  return codeResult(step.name, bucketIndex(value, boundaries), vocabulary);
}

function formula(step: NumericStep, value: NumberExpression, { center, scale }: FittedValues): NumberExpression {
  if (step.kind === "log") return ln(add(value, number(step.offset)));
  if (center === undefined || scale === undefined) return value;
  const scaled = divide(subtract(value, number(center)), number(scale));
  return step.kind === "minmax" && step.clip ? clamp(scaled, 0, 1) : scaled;
}

/** Binds a quotient; missing if a number is infinite or the denominator is 0. */
function bindRatio(step: NamedStep & StepOf<"ratio">, scope: Scope): BoundStep {
  const [above, below] = [numberOf(scope, step.numerator), numberOf(scope, step.denominator)];
  return fixed(numberResult(step.name, divide(finite(above), finite(below))));
}

/** Binds a product; missing if a number is infinite. */
function bindProduct(step: NamedStep & StepOf<"product">, scope: Scope): BoundStep {
  const factors = step.columns.map((column) => finite(numberOf(scope, column)));
  // The product of two may be infinite, and 0 times it is NaN.
  return fixed(
    numberResult(
      step.name,
      factors.reduce((product, factor) => multiply(finite(product), factor)),
    ),
  );
}

/** Maximum number of categories of a one-hot, and of other encodings. */
const maxOneHot = 1_000;
export const maxCategories = 10_000;

type CategoricalStep = NamedStep & StepOf<"one-hot" | "ordinal" | "hash" | "target">;

/** Returns the category's text, with the replacement of a missing one. */
function categoryOf(step: CategoricalStep, scope: Scope): TextExpression {
  const value = textOf(scope, step.column);
  return step.impute === undefined ? value : coalesce(value, text(step.impute));
}

function bindVocabulary(step: NamedStep & StepOf<"one-hot" | "ordinal">, scope: Scope): BoundStep {
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
function bindHash(step: NamedStep & StepOf<"hash">, scope: Scope): BoundStep {
  const vocabulary = Array.from({ length: step.buckets }, (_, i) => i);
  return fixed(codeResult(step.name, bucketOf(categoryOf(step, scope), step.buckets), vocabulary));
}

/**
 * Binds a target encoding: (sum + smoothing × mean) / (count + smoothing) of the category's target. Unseen and missing
 * categories have the mean. In a training row, both are over the rows of the other folds, so that no row's own target
 * is in its feature. The fold is a hash of a column, so that any engine finds the same fold; rows without it are in
 * fold 0.
 */
function bindTarget(step: NamedStep & StepOf<"target">, scope: Scope): BoundStep {
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
        categories.flatMap((each) => each.foldMeans.map((mean, i) => [`${i}${separator}${each.value}`, mean] as const)),
      );
      const otherwise = lookup(foldText, new Map(foldMeans.map((mean, i) => [String(i), mean])));
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
  const categories = [...cells]
    .map(([value, cell]) => ({ value, parts: all.map((_, fold) => cell.get(fold) ?? { count: 0, sum: 0 }) }))
    .sort((a, b) => compareCategories(a.value, b.value));
  for (const { parts } of categories) {
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
    categories: categories.flatMap(({ value, parts }) =>
      value === null ? [] : { value, mean: smoothed(parts), foldMeans: all.map((_, fold) => smoothed(parts, fold)) },
    ),
  };
}

/** Binds a text of several columns, for an encoding of their combinations. */
function bindCross(step: NamedStep & StepOf<"cross">, scope: Scope): BoundStep {
  const value = join(step.columns.map((column) => textOf(scope, column)));
  return fixed({ outputs: [], result: { type: "text", value } });
}

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
