import { isIP } from "node:net";
import { isObject, JsonLimitError, parseJson } from "../json";
import { ServiceError } from "../wire";
import type { Pattern } from "./pattern";

function invalidPattern(reason: string): ServiceError {
  return new ServiceError("InvalidEventPatternException", 400, `Event pattern is not valid. Reason: ${reason}`);
}

/** Parses an event pattern and refuses one that EventBridge would refuse. */
export function parsePattern(text: string): Pattern {
  let pattern: unknown;
  try {
    pattern = parseJson(text);
  } catch (error) {
    if (error instanceof JsonLimitError) throw invalidPattern(`it ${error.rule}`);
    throw invalidPattern(`it is not JSON: ${(error as Error).message}`);
  }
  if (!isObject(pattern) || Object.keys(pattern).length === 0)
    throw invalidPattern("Event pattern must be an object with a field.");
  checkObject(pattern, "");
  return pattern;
}

function checkObject(pattern: Record<string, unknown>, path: string): void {
  for (const [field, rule] of Object.entries(pattern)) {
    const where = path === "" ? field : `${path}.${field}`;
    if (field === "$or") checkOr(rule, where);
    else if (isObject(rule)) {
      if (Object.keys(rule).length === 0) throw invalidPattern(`Empty objects are not allowed, at '${where}'`);
      checkObject(rule, where);
    } else if (Array.isArray(rule)) {
      if (rule.length === 0) throw invalidPattern(`Empty arrays are not allowed, at '${where}'`);
      for (const matcher of rule) checkMatcher(matcher, where);
    } else throw invalidPattern(`'${where}' must be an object or an array, but is ${JSON.stringify(rule)}`);
  }
}

function checkOr(branches: unknown, where: string): void {
  if (!Array.isArray(branches) || branches.length < 2 || !branches.every(isObject)) {
    throw invalidPattern(`'${where}' must be an array of at least two patterns`);
  }
  for (const branch of branches) checkObject(branch, where);
}

function checkMatcher(matcher: unknown, where: string): void {
  if (Array.isArray(matcher))
    throw invalidPattern(`Match value must be String, number, true, false, or null, at '${where}'`);
  if (!isObject(matcher)) return;
  const [[operator, operand] = ["", undefined], ...more] = Object.entries(matcher);
  if (more.length > 0) throw invalidPattern(`Only one key allowed in match expression, at '${where}'`);
  if (!check(operator, operand)) {
    throw invalidPattern(
      `Unrecognized or malformed match type '${operator}': ${JSON.stringify(operand)}, at '${where}'`,
    );
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
const isScalar = (value: unknown) => isText(value) || typeof value === "number";

function check(operator: string, operand: unknown): boolean {
  switch (operator) {
    case "exists":
      return typeof operand === "boolean";
    case "prefix":
    case "suffix":
      return (
        isText(operand) ||
        (isObject(operand) && Object.keys(operand).length === 1 && isText(operand["equals-ignore-case"]))
      );
    case "equals-ignore-case":
      return isText(operand);
    case "wildcard":
      // EventBridge refuses two adjacent stars, which mean the same as one.
      return isText(operand) && !/(^|[^\\])\*\*/.test(operand);
    case "numeric":
      return isNumeric(operand);
    case "cidr":
      return isBlock(operand);
    case "anything-but":
      return isExclusion(operand);
    default:
      return false;
  }
}

function isNumeric(operand: unknown): boolean {
  if (!Array.isArray(operand) || (operand.length !== 2 && operand.length !== 4)) return false;
  const [first, , second] = operand;
  if (!operand.every((part, index) => (index % 2 === 0 ? /^([<>]=?|=)$/.test(String(part)) : typeof part === "number")))
    return false;
  // A range has a lower bound, then an upper bound.
  return operand.length === 2 || (/^>/.test(first) && /^</.test(second) && operand[1] < operand[3]);
}

function isBlock(operand: unknown): boolean {
  if (!isText(operand)) return false;
  const [network = "", bits = "", ...more] = operand.split("/");
  const family = isIP(network);
  return more.length === 0 && family !== 0 && /^\d+$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function isExclusion(operand: unknown): boolean {
  if (Array.isArray(operand))
    return operand.length > 0 && (operand.every(isText) || operand.every((v) => typeof v === "number"));
  if (!isObject(operand)) return isScalar(operand);
  const [[operator, texts] = ["", undefined], ...more] = Object.entries(operand);
  if (more.length > 0 || !["prefix", "suffix", "equals-ignore-case", "wildcard"].includes(operator)) return false;
  return Array.isArray(texts)
    ? texts.length > 0 && texts.every((text) => check(operator, text))
    : check(operator, texts);
}
