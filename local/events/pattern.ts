import { isObject, JsonLimitError, parseJson } from "../json";
import { ServiceError } from "../wire";

/**
 * An event pattern of EventBridge. Fields are joined by AND, and the entries of a list by OR. An array in an event
 * matches if one of its elements matches. An entry is a value, or one of the operators below. Source: "Amazon
 * EventBridge event patterns" and "Comparison operators", EventBridge user guide.
 */
export type Pattern = Readonly<Record<string, unknown>>;

/** The operators, with a test of their operand. */
const operators: Readonly<Record<string, (operand: unknown) => boolean>> = {
  exists: (operand) => typeof operand === "boolean",
  prefix: (operand) => typeof operand === "string",
  // EventBridge refuses two adjacent stars, which mean the same as one.
  wildcard: (operand) => typeof operand === "string" && !/(^|[^\\])\*\*/.test(operand),
};

export function matchesPattern(pattern: Pattern, event: unknown): boolean {
  return Object.entries(pattern).every(([field, rule]) => {
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
  if (typeof value !== "string") return false;
  const { prefix, wildcard } = matcher;
  return typeof prefix === "string" ? value.startsWith(prefix) : wildcardPattern(String(wildcard)).test(value);
}

/** Converts a wildcard pattern. `*` matches any text, also an empty one. `\\*` and `\\\\` match themselves. */
function wildcardPattern(text: string): RegExp {
  const source = text.replace(/\\([*\\])|([*])|([\s\S])/g, (_, escaped, star, other) =>
    star ? "[\\s\\S]*" : (escaped ?? other).replace(/[.+?^${}()|[\]\\*]/, "\\$&"),
  );
  return new RegExp(`^${source}$`);
}

function invalidPattern(reason: string): ServiceError {
  return new ServiceError("InvalidEventPatternException", 400, `Event pattern is not valid. Reason: ${reason}`);
}

export function parsePattern(text: string): Pattern {
  let pattern: unknown;
  try {
    pattern = parseJson(text);
  } catch (error) {
    if (error instanceof JsonLimitError) throw invalidPattern(`it ${error.rule}`);
    throw invalidPattern(`it is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(pattern) || Object.keys(pattern).length === 0) {
    throw invalidPattern("Event pattern must be an object with a field.");
  }
  checkObject(pattern, "");
  return pattern;
}

function checkObject(pattern: Pattern, path: string): void {
  for (const [field, rule] of Object.entries(pattern)) {
    const where = path === "" ? field : `${path}.${field}`;
    if (field === "$or") throw invalidPattern(`the embedded EventBridge does not implement $or, at '${where}'`);
    if (isObject(rule)) {
      if (Object.keys(rule).length === 0) throw invalidPattern(`Empty objects are not allowed, at '${where}'`);
      checkObject(rule, where);
    } else if (Array.isArray(rule)) {
      if (rule.length === 0) throw invalidPattern(`Empty arrays are not allowed, at '${where}'`);
      for (const matcher of rule) checkMatcher(matcher, where);
    } else throw invalidPattern(`'${where}' must be an object or an array, but is ${JSON.stringify(rule)}`);
  }
}

function checkMatcher(matcher: unknown, where: string): void {
  if (Array.isArray(matcher)) {
    throw invalidPattern(`Match value must be String, number, true, false, or null, at '${where}'`);
  }
  if (!isObject(matcher)) return;
  const [[operator, operand] = ["", undefined], ...more] = Object.entries(matcher);
  if (more.length > 0) throw invalidPattern(`Only one key allowed in match expression, at '${where}'`);
  if (Object.hasOwn(operators, operator) && operators[operator]!(operand)) return;
  throw invalidPattern(
    `Unrecognized or malformed match type '${operator}': ${JSON.stringify(operand)}, at '${where}'. The embedded EventBridge implements ${Object.keys(operators).join(", ")}.`,
  );
}
