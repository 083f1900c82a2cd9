import { type AttributeValue, type Item, setMembers } from "../value/attribute-value";
import { compareScalars, equalValues } from "../value/compare";
import type { Comparator, Condition, Operand } from "./ast";
import { valueAt } from "./path";

export function holds(condition: Condition, item: Item): boolean {
  switch (condition.kind) {
    case "and":
      return holds(condition.left, item) && holds(condition.right, item);
    case "or":
      return holds(condition.left, item) || holds(condition.right, item);
    case "not":
      return !holds(condition.operand, item);
    case "compare":
      return compare(condition.operator, resolve(condition.left, item), resolve(condition.right, item));
    case "between": {
      const value = resolve(condition.operand, item);
      return compare(">=", value, resolve(condition.low, item)) && compare("<=", value, resolve(condition.high, item));
    }
    case "in": {
      const value = resolve(condition.operand, item);
      return condition.list.some((candidate) => compare("=", value, resolve(candidate, item)));
    }
    case "function":
      return call(condition.name, resolve(condition.args[0]!, item), condition.args[1], item);
  }
}

function resolve(operand: Operand, item: Item): AttributeValue | undefined {
  if (operand.kind === "value") return operand.value;
  if (operand.kind === "path") return valueAt(item, operand.path);
  const size = sizeOf(resolve(operand.of, item));
  return size === undefined ? undefined : { N: String(size) };
}

function compare(operator: Comparator, a: AttributeValue | undefined, b: AttributeValue | undefined): boolean {
  if (operator === "=") return a !== undefined && b !== undefined && equalValues(a, b);
  if (operator === "<>") return a === undefined || b === undefined || !equalValues(a, b);
  const order = a !== undefined && b !== undefined ? compareScalars(a, b) : undefined;
  if (order === undefined) return false;
  switch (operator) {
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

function call(
  name: (Condition & { kind: "function" })["name"],
  value: AttributeValue | undefined,
  second: Operand | undefined,
  item: Item,
): boolean {
  if (name === "attribute_exists") return value !== undefined;
  if (name === "attribute_not_exists") return value === undefined;
  const argument = second && resolve(second, item);
  return value !== undefined && argument !== undefined && beginsWith(value, argument);
}

export function beginsWith(value: AttributeValue, prefix: AttributeValue): boolean {
  if ("S" in value && "S" in prefix) return value.S.startsWith(prefix.S);
  if (!("B" in value && "B" in prefix)) return false;
  const start = Buffer.from(prefix.B, "base64");
  return Buffer.from(value.B, "base64").subarray(0, start.length).equals(start);
}

/**
 * Returns `size()`: the characters (UTF-16 units, as in Java) of a string, the bytes of a binary value, or the members
 * of a collection. Other types have no size.
 */
function sizeOf(value: AttributeValue | undefined): number | undefined {
  if (value === undefined) return undefined;
  if ("S" in value) return value.S.length;
  if ("B" in value) return Buffer.byteLength(value.B, "base64");
  if ("L" in value) return value.L.length;
  if ("M" in value) return Object.keys(value.M).length;
  return setMembers(value)?.length;
}
