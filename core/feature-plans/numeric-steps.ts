import { type BoundStep, type CompiledStep, codeResult, fixed, numberResult } from "./bound-step";
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
} from "./expression";
import { numberOf, type Scope } from "./references";
import type { FittedValues, NamedStep, StepOf } from "./shapes";
import { emptySummary, type Quantiles, quantiles, type State, type Statistic, type Summary } from "./statistics";

type NumericStep = NamedStep & StepOf<"number" | "standardize" | "minmax" | "robust" | "log" | "bucketize">;

/** Binds a step that replaces missing values of one number, then applies its formula. */
export function bindNumeric(step: NumericStep, scope: Scope): BoundStep {
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
      const found = at(Array.from({ length: parts - 1 }, (_, i) => (i + 1) / parts)) ?? [];
      return { boundaries: [...new Set(found)] };
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
export function bindRatio(step: NamedStep & StepOf<"ratio">, scope: Scope): BoundStep {
  const [above, below] = [numberOf(scope, step.numerator), numberOf(scope, step.denominator)];
  return fixed(numberResult(step.name, divide(finite(above), finite(below))));
}

/** Binds a product; missing if a number is infinite. */
export function bindProduct(step: NamedStep & StepOf<"product">, scope: Scope): BoundStep {
  const factors = step.columns.map((column) => finite(numberOf(scope, column)));
  // The product of two may be infinite, and 0 times it is NaN.
  return fixed(
    numberResult(
      step.name,
      factors.reduce((product, factor) => multiply(finite(product), factor)),
    ),
  );
}
