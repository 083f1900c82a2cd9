import { InvalidInputError, type Problem } from "../errors";
import {
  booleanNumber,
  booleanText,
  type Condition,
  type NumberExpression,
  type TextExpression,
  variable,
  wholeText,
} from "./expression";
import { encodedBy, inputsOf, sourceColumnsOf } from "./plan-columns";
import type { FeaturePlan, NamedStep, PlanColumn, StepKind } from "./shapes";

/** The meaning of a name in a step: a source column, or the result of an earlier step. */
export type Reference =
  | { readonly type: "number" | "time"; readonly value: NumberExpression }
  | { readonly type: "text"; readonly value: TextExpression }
  | { readonly type: "bool"; readonly value: Condition };
type ReferenceType = Reference["type"];

export type Scope = ReadonlyMap<string, Reference>;

export function columnReference({ name, type }: PlanColumn): Reference {
  switch (type) {
    case "int":
    case "float":
      return { type: "number", value: variable(name) };
    case "timestamp":
      return { type: "time", value: variable(name) };
    case "string":
      return { type: "text", value: variable(name) };
    case "bool":
      return { type: "bool", value: variable(name) };
  }
}

/** Returns a number, a bool as 0 and 1, or a time in milliseconds. */
export function numberOf(scope: Scope, name: string): NumberExpression {
  const reference = scope.get(name)!;
  if (reference.type === "bool") return booleanNumber(reference.value);
  if (reference.type === "text") throw new Error(`${name} is text`); // `checkTypes` saw to it
  return reference.value;
}

/** Returns the text of a category: text, `true` or `false`, or a whole number. Other numbers are no categories. */
export function textOf(scope: Scope, name: string): TextExpression {
  const reference = scope.get(name)!;
  if (reference.type === "text") return reference.value;
  return reference.type === "bool" ? booleanText(reference.value) : wholeText(reference.value);
}

const numbers: readonly ReferenceType[] = ["number", "bool"];
const categories: readonly ReferenceType[] = ["text", "number", "bool"];

/** The types that a kind of step reads. `source` is a column, not the result of a step. */
const accepted: Readonly<Record<StepKind, readonly ReferenceType[]>> = {
  number: numbers,
  standardize: numbers,
  minmax: numbers,
  robust: numbers,
  log: numbers,
  bucketize: numbers,
  ratio: numbers,
  product: numbers,
  window: numbers,
  "one-hot": categories,
  ordinal: categories,
  hash: categories,
  target: categories,
  cross: categories,
  length: ["text"],
  ngrams: ["text"],
  date: ["time"],
  cycle: ["time"],
};

/** @throws InvalidInputError with every problem of `typeProblems` */
export function checkTypes(plan: FeaturePlan, columns: readonly PlanColumn[]): void {
  const problems = typeProblems(plan, columns);
  if (problems.length > 0) throw new InvalidInputError(`the plan of ${plan.name} does not fit the rows`, problems);
}

/** Checks that every name of a plan refers to a column or an earlier result of a type that the step reads. */
export function typeProblems(
  plan: FeaturePlan,
  columns: readonly PlanColumn[],
  stepsPath = "steps",
): readonly Problem[] {
  const types = new Map<string, ReferenceType>(columns.map((column) => [column.name, columnReference(column).type]));
  const problems: Problem[] = [];
  const check = (path: string, name: string, allowed: readonly ReferenceType[]): void => {
    const type = types.get(name);
    if (type === undefined) {
      const names = [...types.keys()];
      const rule = `must be a column or the result of an earlier step: ${names.slice(0, 30).join(", ")}${names.length > 30 ? ", …" : ""}`;
      problems.push({ path, value: name, rule });
    } else if (!allowed.includes(type)) {
      problems.push({ path, value: name, rule: `must be ${allowed.join(" or ")}, but is ${type}` });
    }
  };
  const results = new Set<string>();
  for (const [index, step] of plan.steps.entries()) {
    const path = `${stepsPath}[${index}]`;
    const allowed = step.kind === "cycle" && step.period !== undefined ? numbers : accepted[step.kind];
    for (const input of encodedBy(step)) check(`${path} (${step.name})`, input, allowed);
    if (step.kind === "target") {
      if (step.positive === undefined && types.get(step.target) === "text") {
        const rule = "is required for a label of texts: the value that counts as 1";
        problems.push({ path: `${path}.positive`, rule });
      } else check(`${path}.target`, step.target, step.positive === undefined ? numbers : categories);
      check(`${path}.foldBy`, step.foldBy, [...categories, "time"]);
    }
    if (step.kind === "ngrams" && results.has(step.column)) {
      problems.push({ path: `${path}.column`, value: step.column, rule: "must be a column, not the result of a step" });
    }
    results.add(step.name);
    if (step.kind === "cycle" || step.kind === "ngrams") types.delete(step.name);
    else types.set(step.name, step.kind === "cross" ? "text" : "number");
  }
  const identity = [...plan.entities, plan.eventTime, plan.creationTime].filter((name) => name !== undefined);
  const present = new Set(columns.map(({ name }) => name));
  for (const name of plan.steps.some(({ kind }) => kind === "window") ? identity : []) {
    if (!present.has(name)) problems.push({ path: name, rule: "must be a column of the rows" });
  }
  return problems;
}

export function columnsRead(plan: FeaturePlan, available: readonly PlanColumn[]): readonly PlanColumn[] {
  const wanted = new Set(sourceColumnsOf(plan));
  return available.filter(({ name }) => wanted.has(name));
}

/**
 * Holds the results of steps while a plan is bound. A name refers to the result of an earlier step, if one has that
 * name, otherwise to a column.
 */
export function createScopes(plan: FeaturePlan, columns: readonly PlanColumn[]) {
  const sources = new Map(columns.map((column) => [column.name, columnReference(column)]));
  const results = new Map<string, Reference | undefined>();
  const order = new Map(plan.steps.map(({ name }, index) => [name, index]));
  return {
    /** Returns what the step reads; `undefined` if the result of a step is not known yet. */
    of(step: NamedStep): Scope | undefined {
      const scope = new Map<string, Reference>();
      for (const input of inputsOf(step)) {
        const isResult = (order.get(input) ?? Number.POSITIVE_INFINITY) < order.get(step.name)!;
        const reference = isResult ? results.get(input) : sources.get(input);
        if (reference === undefined) return undefined;
        scope.set(input, reference);
      }
      return scope;
    },
    set(step: NamedStep, result: Reference | undefined): void {
      results.set(step.name, result);
    },
  };
}
