import { runtimeError, StateError } from "../errors";
import { equal, isArray, isObject, type Json } from "../json";
import { type Operand, type Path, type PathStep, parsePath, type Test } from "./path-parse";
import type { Scope } from "./scope";

const children = (value: Json): readonly Json[] =>
  isArray(value) ? value : isObject(value) ? Object.values(value) : [];

function descendants(value: Json): Json[] {
  return [value, ...children(value).flatMap(descendants)];
}

const at = (value: Json, index: number): readonly Json[] => {
  const item = isArray(value) ? value.at(index) : undefined;
  return item === undefined ? [] : [item];
};

function operandValue(operand: Operand, item: Json): Json | undefined {
  return "literal" in operand ? operand.literal : select(operand.path, item)[0];
}

function compare(operator: string, left: Json | undefined, right: Json | undefined): boolean {
  if (operator === "==") return equal(left, right);
  if (operator === "!=") return !equal(left, right);
  const ordered =
    (typeof left === "number" && typeof right === "number") || (typeof left === "string" && typeof right === "string");
  if (!ordered) return false;
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  if (operator === ">") return left > right;
  return left >= right;
}

function holds(test: Test, item: Json): boolean {
  switch (test.kind) {
    case "and":
      return test.tests.every((each) => holds(each, item));
    case "or":
      return test.tests.some((each) => holds(each, item));
    case "not":
      return !holds(test.test, item);
    case "exists":
      return select(test.path, item).length > 0;
    case "compare":
      return compare(test.operator, operandValue(test.left, item), operandValue(test.right, item));
  }
}

function take(step: PathStep, value: Json): readonly Json[] {
  switch (step.kind) {
    case "name":
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] as Json] : [];
    case "names":
      return step.names.flatMap((name) => take({ kind: "name", name }, value));
    case "index":
      return at(value, step.index);
    case "indexes":
      return step.indexes.flatMap((index) => at(value, index));
    case "slice":
      return isArray(value) ? value.slice(step.start, step.end) : [];
    case "wildcard":
      return children(value);
    case "descend":
      return descendants(value).flatMap((each) => take(step.step, each));
    case "filter":
      return (isArray(value) ? value : [value]).filter((each) => holds(step.test, each));
  }
}

/** Returns every value that the steps select, in document order. */
export function select(steps: readonly PathStep[], root: Json): readonly Json[] {
  let values: readonly Json[] = [root];
  for (const step of steps) values = values.flatMap((value) => take(step, value));
  return values;
}

function rootOf(path: Path, scope: Scope, subject: Json): Json | undefined {
  if (path.root === "input") return subject;
  return path.root === "context" ? scope.context : scope.variables[path.root.variable];
}

/**
 * Returns the value of a path. A definite path gives the selected value, and any other path gives the list of all.
 * @param subject value of `$`: the state's input, or its result in ResultSelector and OutputPath
 * @returns undefined if a definite path selects nothing
 */
export function lookUp(text: string, scope: Scope, subject: Json = scope.input): Json | undefined {
  const path = parsePath(text);
  const root = rootOf(path, scope, subject);
  if (root === undefined) return undefined;
  const values = select(path.steps, root);
  return path.definite ? values[0] : values;
}

/** Returns the value of a path like `lookUp`, but fails the state if the path selects nothing. */
export function resolve(text: string, field: string, scope: Scope, subject: Json = scope.input): Json {
  const value = lookUp(text, scope, subject);
  if (value !== undefined) return value;
  throw new StateError(
    runtimeError,
    `The JSONPath '${text}' specified for the field '${field}' could not be found in the input '${JSON.stringify(subject)}'`,
  );
}

/**
 * Sets `value` at a reference path (ResultPath). Missing objects on the path are created, but arrays are not extended.
 */
export function insert(text: string, value: Json, target: Json): Json {
  const place = (steps: readonly PathStep[], into: Json): Json => {
    const [step, ...rest] = steps;
    if (!step) return value;
    if (step.kind === "index" && isArray(into) && step.index < into.length) {
      return into.map((item, i) => (i === step.index ? place(rest, item) : item));
    }
    if (step.kind === "name" && isObject(into)) {
      const inner = into[step.name];
      return { ...into, [step.name]: place(rest, isObject(inner) || isArray(inner) ? inner : {}) };
    }
    throw new StateError(
      "States.ResultPathMatchFailure",
      `Unable to apply step '${text}' of ResultPath to input '${JSON.stringify(target)}'`,
    );
  };
  return place(parsePath(text).steps, target);
}
