import { BlockList, isIP } from "node:net";
import { isObject } from "../wire";

/**
 * EventBridge's event patterns. Fields are joined by AND, the entries of a list by OR; an event's array matches when one of its
 * elements does. Source: "Amazon EventBridge event patterns" and "Comparison operators", EventBridge user guide.
 */
export type Pattern = Readonly<Record<string, unknown>>;

export function matchesPattern(pattern: Pattern, event: unknown): boolean {
  return Object.entries(pattern).every(([field, rule]) => {
    if (field === "$or") return (rule as readonly Pattern[]).some((branch) => matchesPattern(branch, event));
    const value = isObject(event) && Object.hasOwn(event, field) ? event[field] : undefined;
    if (Array.isArray(rule)) return rule.some((matcher) => matchesLeaf(matcher, value));
    // Under a field that is not there, only `exists: false` can match.
    const values = Array.isArray(value) && value.length > 0 ? value : [value];
    return values.some((element) => matchesPattern(rule as Pattern, element));
  });
}

function matchesLeaf(matcher: unknown, value: unknown): boolean {
  if (isObject(matcher) && "exists" in matcher) return matcher["exists"] === isLeaf(value);
  const values = Array.isArray(value) ? value : [value];
  return values.some((element) => element !== undefined && matchesValue(matcher, element));
}

/** `exists` speaks of leaves: an object is none. */
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

/** What `anything-but` excludes: a value, a list of them, or an operator over one or several texts. */
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

/** `*` stands for any text, none included; `\*` and `\\` for themselves. */
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
