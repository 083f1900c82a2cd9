import { equal, type Json, rfc3339 } from "../json";
import type { ChoiceRule } from "../types";
import { lookUp, resolve } from "./path";
import type { Scope } from "./scope";

/** A comparison operator of JSONPath Choice rules. `…Path` variants compare with the value of another path. */
type Comparison = (value: Json, operand: Json) => boolean;

const ordered: Readonly<Record<string, (order: number) => boolean>> = {
  Equals: (order) => order === 0,
  LessThan: (order) => order < 0,
  LessThanEquals: (order) => order <= 0,
  GreaterThan: (order) => order > 0,
  GreaterThanEquals: (order) => order >= 0,
};

const isTimestamp = (value: Json): value is string => typeof value === "string" && rfc3339.test(value);

/**
 * The comparisons of two values of a type. They return undefined if either value has another type, and then no rule
 * holds.
 */
const kinds: Readonly<Record<string, (a: Json, b: Json) => number | undefined>> = {
  String: (a, b) => (typeof a === "string" && typeof b === "string" ? (a < b ? -1 : Number(a > b)) : undefined),
  Numeric: (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : undefined),
  Timestamp: (a, b) => (isTimestamp(a) && isTimestamp(b) ? Date.parse(a) - Date.parse(b) : undefined),
};

/** Matches a pattern. `*` matches any characters, and `\*` matches itself. */
function like(value: Json, pattern: Json): boolean {
  if (typeof value !== "string" || typeof pattern !== "string") return false;
  const source = pattern.replace(
    /\\([\\*])|(\*)|([^\\*]+|\\)/gu,
    (_match, escaped?: string, star?: string, text?: string) => {
      if (star) return "[\\s\\S]*";
      return (escaped ?? text ?? "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    },
  );
  return new RegExp(`^${source}$`, "u").test(value);
}

const types: Readonly<Record<string, (value: Json | undefined) => boolean>> = {
  IsNull: (value) => value === null,
  IsString: (value) => typeof value === "string",
  IsNumeric: (value) => typeof value === "number",
  IsBoolean: (value) => typeof value === "boolean",
  IsTimestamp: (value) => value !== undefined && isTimestamp(value),
};

function comparisons(): ReadonlyMap<string, Comparison> {
  const all = new Map<string, Comparison>([
    ["BooleanEquals", (a, b) => typeof a === "boolean" && equal(a, b)],
    ["StringMatches", like],
  ]);
  for (const [kind, compare] of Object.entries(kinds)) {
    for (const [name, holds] of Object.entries(ordered)) {
      all.set(`${kind}${name}`, (a, b) => {
        const order = compare(a, b);
        return order !== undefined && holds(order);
      });
    }
  }
  return all;
}

const operators = comparisons();
const plain = (name: string): string => (name.endsWith("Path") ? name.slice(0, -4) : name);

/** Returns the rule's operator, if it has exactly one known operator. */
export function operatorOf(rule: ChoiceRule): string | undefined {
  const known = Object.keys(rule).filter(
    (key) => key === "IsPresent" || Object.hasOwn(types, key) || operators.has(key) || isPathVariant(key),
  );
  return known.length === 1 ? known[0] : undefined;
}
const isPathVariant = (key: string): boolean =>
  key.endsWith("Path") && operators.has(plain(key)) && key !== "StringMatchesPath";

/** Returns whether a JSONPath rule holds. A path that selects nothing fails the state, except in IsPresent. */
export function ruleHolds(rule: ChoiceRule, scope: Scope, subject: Json): boolean {
  if (rule.And) return rule.And.every((each) => ruleHolds(each, scope, subject));
  if (rule.Or) return rule.Or.some((each) => ruleHolds(each, scope, subject));
  if (rule.Not) return !ruleHolds(rule.Not, scope, subject);
  const operator = operatorOf(rule) ?? "";
  const operand = rule[operator] as Json;
  const variable = rule.Variable ?? "$";
  if (operator === "IsPresent") return (lookUp(variable, scope, subject) !== undefined) === operand;
  const value = resolve(variable, "Variable", scope, subject);
  const type = types[operator];
  if (type) return type(value) === operand;
  const other = isPathVariant(operator) ? resolve(operand as string, operator, scope, subject) : operand;
  return operators.get(plain(operator))?.(value, other) ?? false;
}
