import { BlockList, isIP } from "node:net";
import { isObject } from "../json";

/**
 * An event pattern of EventBridge. Fields are joined by AND, and the entries of a list by OR. An array in an event
 * matches if one of its elements matches. Source: "Amazon EventBridge event patterns" and "Comparison operators",
 * EventBridge user guide.
 */
export type Pattern = Readonly<Record<string, unknown>>;

export function matchesPattern(pattern: Pattern, event: unknown): boolean {
  return Object.entries(pattern).every(([field, rule]) => {
    if (field === "$or") return (rule as readonly Pattern[]).some((branch) => matchesPattern(branch, event));
    const value = isObject(event) && Object.hasOwn(event, field) ? event[field] : undefined;
    if (Array.isArray(rule)) return rule.some((matcher) => matchesLeaf(matcher, value));
    // In a missing field, only `exists: false` can match.
    const values = Array.isArray(value) && value.length > 0 ? value : [value];
    return values.some((element) => matchesPattern(rule as Pattern, element));
  });
}

function matchesLeaf(matcher: unknown, value: unknown): boolean {
  if (isObject(matcher) && "exists" in matcher) return matcher["exists"] === isLeaf(value);
  const values = Array.isArray(value) ? value : [value];
  return values.some((element) => element !== undefined && matchesValue(matcher, element));
}

/** Returns whether a value is a leaf. `exists` applies only to leaves, and an object is not one. */
function isLeaf(value: unknown): boolean {
  return value !== undefined && !isObject(value) && !(Array.isArray(value) && value.length === 0);
}

function matchesValue(matcher: unknown, value: unknown): boolean {
  if (!isObject(matcher)) return matcher === value;
  const [operator, operand] = Object.entries(matcher)[0]!;
  switch (operator) {
    case "anything-but":
      return !matchesAny(operand, value);
    case "numeric":
      return typeof value === "number" && inRange(operand as readonly unknown[], value);
    default:
      return typeof value === "string" && matchesText(operator, operand, value);
  }
}

/**
 * Returns whether a value matches the operand of `anything-but`: a value, a list of values, or an operator with one or
 * several texts.
 */
function matchesAny(operand: unknown, value: unknown): boolean {
  if (Array.isArray(operand)) return operand.includes(value);
  if (!isObject(operand)) return operand === value;
  const [operator, texts] = Object.entries(operand)[0]!;
  return typeof value === "string" && [texts].flat().some((text) => matchesText(operator, text, value));
}

function matchesText(operator: string, operand: unknown, value: string): boolean {
  if (isObject(operand)) {
    const text = String(operand["equals-ignore-case"]).toLowerCase();
    return matchesText(operator, text, value.toLowerCase());
  }
  const text = String(operand);
  switch (operator) {
    case "prefix":
      return value.startsWith(text);
    case "suffix":
      return value.endsWith(text);
    case "equals-ignore-case":
      return value.toLowerCase() === text.toLowerCase();
    case "wildcard":
      return wildcard(text).test(value);
    default:
      return operator === "cidr" && inBlock(text, value);
  }
}

/** Converts a wildcard pattern. `*` matches any text, also an empty one. `\*` and `\\` match themselves. */
function wildcard(text: string): RegExp {
  const source = text.replace(/\\([*\\])|([*])|([\s\S])/g, (_, escaped, star, other) =>
    star ? "[\\s\\S]*" : (escaped ?? other).replace(/[.+?^${}()|[\]\\*]/, "\\$&"),
  );
  return new RegExp(`^${source}$`);
}

function inRange(conditions: readonly unknown[], value: number): boolean {
  for (let index = 0; index < conditions.length; index += 2) {
    const bound = conditions[index + 1] as number;
    const holds = {
      "=": value === bound,
      "<": value < bound,
      "<=": value <= bound,
      ">": value > bound,
      ">=": value >= bound,
    }[conditions[index] as string];
    if (!holds) return false;
  }
  return true;
}

function inBlock(block: string, address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const [network = "", bits] = block.split("/");
  if (isIP(network) !== family) return false;
  const type = family === 4 ? "ipv4" : "ipv6";
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(address, type);
}
