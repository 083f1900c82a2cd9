import type { Category } from "../row-values";
import type { Expression, NumberExpression } from "./expression";
import type { Reference } from "./references";
import type { FittedValues } from "./shapes";
import type { State, Statistic } from "./statistics";

/** A column of a plan's result. */
export type Output =
  | { readonly kind: "number"; readonly name: string; readonly value: NumberExpression }
  /** A one-hot: `value` is the position in the vocabulary; missing: no position. */
  | {
      readonly kind: "code";
      readonly name: string;
      readonly value: NumberExpression;
      readonly vocabulary: readonly Category[];
    };

/** An intermediate value, computed once a row, which expressions read as a variable. */
export interface Intermediate {
  readonly name: string;
  readonly value: Expression<unknown>;
}

export interface CompiledStep {
  readonly outputs: readonly Output[];
  /** The value that later steps refer to; none for a step with several results. */
  readonly result?: Reference;
}

export interface BoundStep {
  /** Its measurements on the training rows. */
  readonly statistics: readonly Statistic[];
  /** @param states one for each statistic */
  finish(states: readonly State[]): FittedValues;
  /** @param outOfFold whether the rows are the training rows, whose target encodings leave their own fold out */
  compile(fitted: FittedValues, outOfFold: boolean): CompiledStep;
}

export function fixed(compiled: CompiledStep): BoundStep {
  return { statistics: [], finish: () => ({}), compile: () => compiled };
}

export function numberResult(name: string, value: NumberExpression): CompiledStep {
  return { outputs: [{ kind: "number", name, value }], result: { type: "number", value } };
}

export function codeResult(name: string, value: NumberExpression, vocabulary: readonly Category[]): CompiledStep {
  return { outputs: [{ kind: "code", name, value, vocabulary }], result: { type: "number", value } };
}
