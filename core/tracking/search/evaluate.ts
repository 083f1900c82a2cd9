import type { Comparator, Condition, Expression, Field, Value } from "./expression";
import { likeMatcher } from "./like";
import { datasetValue, numberOfText, type SearchContext } from "./record-values";
import type { SearchRow } from "./row";
import { valueReader } from "./row-values";

export type Predicate = (row: SearchRow) => boolean;

/**
 * A filter as a function of a row. As in SQL, a condition about what a run does not have is neither true nor false, and NOT of it is neither too: NOT is
 * carried down to the conditions (De Morgan), and a condition, denied or not, is met only where the value is there. `IS NULL` alone asks about that.
 *
 * A run may have several datasets: a condition on `dataset.…` asks whether one of them meets it, its NOT whether none does.
 */
export function compileFilter(expression: Expression, context: SearchContext, denied = false): Predicate {
  switch (expression.type) {
    case "not":
      return compileFilter(expression.operand, context, !denied);
    case "and":
    case "or": {
      const parts = expression.operands.map((operand) => compileFilter(operand, context, denied));
      const all = (expression.type === "and") !== denied;
      return all ? (row) => parts.every((part) => part(row)) : (row) => parts.some((part) => part(row));
    }
    default:
      return compileCondition(expression, context, denied);
  }
}

function compileCondition(condition: Condition, context: SearchContext, denied: boolean): Predicate {
  const { field } = condition;
  if (field.kind === "dataset") return compileDataset(condition, field, denied);
  const read = valueReader(field, context);
  if (condition.type === "null") {
    const wanted = condition.negated !== denied;
    return (row) => (read(row) !== undefined) === wanted;
  }
  const test = valueTest(condition);
  return (row) => {
    const value = read(row);
    if (value === undefined) return false;
    const met = test(value);
    return met !== undefined && met !== denied;
  };
}

function compileDataset(condition: Condition, field: Field & { kind: "dataset" }, denied: boolean): Predicate {
  if (condition.type === "null") {
    const wanted = condition.negated !== denied;
    return ({ record }) => record.datasets.some((one) => datasetValue(one, field.name) !== undefined) === wanted;
  }
  const test = valueTest(condition);
  return ({ record }) =>
    record.datasets.some((one) => {
      const value = datasetValue(one, field.name);
      return value !== undefined && test(value) === true;
    }) !== denied;
}

/** `undefined`: the value is of another kind than the literal, and so neither meets nor fails the condition. */
type ValueTest = (value: Value) => boolean | undefined;

function valueTest(condition: Exclude<Condition, { type: "null" }>): ValueTest {
  switch (condition.type) {
    case "compare":
      return comparisonTest(condition.comparator, condition.value);
    case "like": {
      const matches = likeMatcher(condition.pattern, condition.ignoreCase);
      return (value) => matches(String(value)) !== condition.negated;
    }
    case "between": {
      const from = comparisonTest(">=", condition.low);
      const to = comparisonTest("<=", condition.high);
      return (value) => {
        const above = from(value);
        return above === undefined ? undefined : (above && to(value) === true) !== condition.negated;
      };
    }
    case "in": {
      const texts = new Set(condition.values.filter((one) => typeof one === "string"));
      const others = condition.values.filter((one) => typeof one !== "string").map((one) => comparisonTest("=", one));
      return (value) => {
        if (typeof value === "string" && texts.has(value)) return !condition.negated;
        const results = others.map((test) => test(value));
        if (results.includes(true)) return !condition.negated;
        const comparable = texts.size > 0 ? typeof value === "string" : results.some((one) => one !== undefined);
        return comparable ? condition.negated : undefined;
      };
    }
  }
}

function comparisonTest(comparator: Comparator, wanted: Value): ValueTest {
  if (typeof wanted === "boolean") {
    return (value) => {
      const known = typeof value === "boolean" ? value : booleanOfText(String(value));
      return known === undefined ? undefined : (known === wanted) === (comparator === "=");
    };
  }
  if (typeof wanted === "number") {
    const holds = numberComparisons[comparator];
    return (value) => {
      const number = typeof value === "number" ? value : typeof value === "string" ? numberOfText(value) : undefined;
      return number === undefined ? undefined : holds(number, wanted);
    };
  }
  const holds = textComparisons[comparator];
  return (value) => holds(String(value), wanted);
}

function booleanOfText(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return word === "true" ? true : word === "false" ? false : undefined;
}

/** NaN equals NaN here, so that runs with it can be found; it is neither less nor greater than anything. */
const numberComparisons: Readonly<Record<Comparator, (a: number, b: number) => boolean>> = {
  "=": (a, b) => a === b || (Number.isNaN(a) && Number.isNaN(b)),
  "!=": (a, b) => a !== b && !(Number.isNaN(a) && Number.isNaN(b)),
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

const textComparisons: Readonly<Record<Comparator, (a: string, b: string) => boolean>> = {
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};
