import { numberOfText } from "../../../../core/tracking/search/evaluate";
import type { Condition, Expression, Field, OrderTerm, Value } from "../../../../core/tracking/search/expression";
import { parseFilter, parseOrder } from "../../../../core/tracking/search/native";
import type { SearchQuery } from "../../../../core/tracking/search/query";
import type { TestRun } from "./runs";

type Truth = boolean | undefined;

/**
 * A second evaluator, written from the language's definition: SQL's three truth values, values looked up by name in the record, a sort of everything. Slow, and
 * without a line in common with the first.
 */
export function naiveSearch(runs: readonly TestRun[], query: SearchQuery): readonly string[] {
  const filter = parseFilter(query.filter, 0);
  const order = parseOrder(query.orderBy);
  return runs
    .filter(({ record }) => query.view === "all" || record.lifecycle === query.view)
    .filter((run) => filter === undefined || truth(filter, run) === true)
    .sort((a, b) => compareRuns(a, b, order))
    .map(({ record }) => record.runId);
}

function truth(expression: Expression, run: TestRun): Truth {
  switch (expression.type) {
    case "and": {
      const parts = expression.operands.map((one) => truth(one, run));
      return parts.includes(false) ? false : parts.includes(undefined) ? undefined : true;
    }
    case "or": {
      const parts = expression.operands.map((one) => truth(one, run));
      return parts.includes(true) ? true : parts.includes(undefined) ? undefined : false;
    }
    case "not": {
      const inner = truth(expression.operand, run);
      return inner === undefined ? undefined : !inner;
    }
    default: {
      const values = valuesOf(expression.field, run);
      if (expression.type === "null") return values.length > 0 === expression.negated;
      const met = values.map((value) => holds(expression, value));
      if (expression.field.kind === "dataset") return met.includes(true);
      return met[0];
    }
  }
}

function valuesOf(field: Field, { record, metrics }: TestRun): readonly Value[] {
  const list = (value: Value | undefined): readonly Value[] => (value === undefined ? [] : [value]);
  switch (field.kind) {
    case "metric": {
      const metric = metrics.find((one) => one.metric === field.name);
      return metric
        ? [{ last: metric.last, min: metric.min, max: metric.max, step: metric.lastStep }[field.aspect]]
        : [];
    }
    case "param":
      return list(new Map(Object.entries(record.params)).get(field.name));
    case "tag":
      return list(new Map(Object.entries(record.tags)).get(field.name));
    case "dataset":
      return record.datasets.flatMap((one) => (field.name === "context" ? [] : list(one[field.name])));
    default:
      switch (field.name) {
        case "status":
          return [record.status];
        case "start_time":
          return [record.startedAt];
        case "seed":
          return list(record.seed);
        default:
          return [record.name];
      }
  }
}

function holds(condition: Exclude<Condition, { type: "null" }>, value: Value): Truth {
  switch (condition.type) {
    case "compare":
      return compared(value, condition.comparator, condition.value);
    case "between": {
      const above = compared(value, ">=", condition.low);
      if (above === undefined) return undefined;
      return (above && compared(value, "<=", condition.high) === true) !== condition.negated;
    }
    case "in": {
      const each = condition.values.map((one) => compared(value, "=", one));
      if (each.includes(true)) return !condition.negated;
      return each.every((one) => one === undefined) ? undefined : condition.negated;
    }
    case "like": {
      const escaped = condition.pattern.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const pattern = `^${escaped.replaceAll("%", ".*").replaceAll("_", ".")}$`;
      return new RegExp(pattern, condition.ignoreCase ? "isu" : "su").test(String(value)) !== condition.negated;
    }
  }
}

function compared(value: Value, comparator: string, wanted: Value): Truth {
  let left: Value | undefined = value;
  if (typeof wanted === "number") left = typeof value === "number" ? value : numberOfText(String(value));
  if (left === undefined) return undefined;
  const equal = Object.is(left, wanted) || left === wanted;
  switch (comparator) {
    case "=":
      return equal;
    case "!=":
      return !equal;
    case "<":
      return left < wanted;
    case "<=":
      return left <= wanted;
    case ">":
      return left > wanted;
    default:
      return left >= wanted;
  }
}

function compareRuns(a: TestRun, b: TestRun, order: readonly OrderTerm[]): number {
  for (const { field, ascending } of order) {
    const [left, right] = [sortable(field, a), sortable(field, b)];
    const group = left.group - right.group;
    if (group !== 0) return group;
    if (left.value < right.value) return ascending ? -1 : 1;
    if (left.value > right.value) return ascending ? 1 : -1;
  }
  const byStart = b.record.startedAt - a.record.startedAt;
  return byStart !== 0 ? byStart : a.record.runId < b.record.runId ? -1 : 1;
}

/** Numbers by size in one group with the texts, which sort after every number; then NaN; then nothing. */
function sortable(field: Field, run: TestRun): { readonly group: number; readonly value: string } {
  const [value] = valuesOf(field, run);
  if (value === undefined) return { group: 2, value: "" };
  const number = typeof value === "number" ? value : numberOfText(String(value));
  if (number === undefined || (typeof value === "string" && field.kind === "attribute")) {
    return { group: 0, value: `z${value}` };
  }
  return Number.isNaN(number) ? { group: 1, value: "" } : { group: 0, value: `n${sortableNumber(number)}` };
}

/** Hexadecimal digits whose order as text is that of the numbers. */
function sortableNumber(number: number): string {
  const bits = new BigUint64Array(new Float64Array([number === 0 ? 0 : number]).buffer)[0]!;
  const sign = 1n << 63n;
  const ordered = bits & sign ? ~bits & 0xffff_ffff_ffff_ffffn : bits | sign;
  return ordered.toString(16).padStart(16, "0");
}
