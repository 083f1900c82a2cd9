import { validation } from "../errors";
import { type AttributeValue, type KeyType, typeOf } from "../value/attribute-value";
import type { Comparator, Condition, Operand } from "./ast";

export interface KeyAttribute {
  readonly name: string;
  readonly type: KeyType;
}

export interface KeySchema {
  readonly hash: KeyAttribute;
  readonly range?: KeyAttribute;
}

export type RangeCondition =
  | { readonly operator: Exclude<Comparator, "<>"> | "begins_with"; readonly value: AttributeValue }
  | { readonly operator: "between"; readonly low: AttributeValue; readonly high: AttributeValue };

export interface KeyCondition {
  readonly hash: AttributeValue;
  readonly range?: RangeCondition;
}

const flipped = { "=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

export function toKeyCondition(condition: Condition, schema: KeySchema): KeyCondition {
  const byName = new Map<string, RangeCondition>();
  collect(condition, byName);
  if (byName.size > 2) throw validation("Conditions can be of length 1 or 2 only");
  const hash = byName.get(schema.hash.name);
  if (hash === undefined) throw missed(schema.hash.name);
  requireType(hash, schema.hash.type);
  if (hash.operator !== "=") throw validation("Query key condition not supported");
  if (byName.size === 1) return { hash: hash.value };
  if (schema.range === undefined) throw validation("Query key condition not supported");
  const range = byName.get(schema.range.name);
  if (range === undefined) throw missed(schema.range.name);
  requireType(range, schema.range.type);
  return { hash: hash.value, range };
}

function missed(name: string): Error {
  return validation(`Query condition missed key schema element: ${name}`);
}

function requireType(condition: RangeCondition, type: KeyType): void {
  const values = condition.operator === "between" ? [condition.low, condition.high] : [condition.value];
  if (values.some((value) => typeOf(value) !== type)) {
    throw validation("One or more parameter values were invalid: Condition parameter type does not match schema type");
  }
  for (const value of values) {
    if (("S" in value && value.S === "") || ("B" in value && value.B === "")) {
      throw validation(
        `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${type === "S" ? "string" : "binary"} value.`,
      );
    }
  }
}

/** Adds the condition on each key attribute to `byName`. @throws ValidationException for any other condition */
function collect(condition: Condition, byName: Map<string, RangeCondition>): void {
  switch (condition.kind) {
    case "and":
      collect(condition.left, byName);
      collect(condition.right, byName);
      return;
    case "or":
    case "not":
    case "in":
      throw invalidOperator(condition.kind.toUpperCase());
    case "compare": {
      if (condition.operator === "<>") throw invalidOperator("<>");
      const { left, right } = condition;
      if (left.kind === "path") add(byName, left, { operator: condition.operator, value: literal(right) });
      else add(byName, right, { operator: flipped[condition.operator], value: literal(left) });
      return;
    }
    case "between": {
      add(byName, condition.operand, {
        operator: "between",
        low: literal(condition.low),
        high: literal(condition.high),
      });
      return;
    }
    case "function":
      if (condition.name !== "begins_with") throw invalidOperator(condition.name);
      add(byName, condition.args[0]!, { operator: "begins_with", value: literal(condition.args[1]!) });
  }
}

function add(byName: Map<string, RangeCondition>, operand: Operand, condition: RangeCondition): void {
  if (operand.kind !== "path") {
    throw validation("Invalid condition in KeyConditionExpression: No key attribute specified");
  }
  if (operand.path.length > 1) {
    throw validation("KeyConditionExpressions cannot have conditions on nested attributes");
  }
  if (byName.has(operand.path[0])) {
    throw validation("KeyConditionExpressions must only contain one condition per key");
  }
  byName.set(operand.path[0], condition);
}

function literal(operand: Operand): AttributeValue {
  if (operand.kind === "value") return operand.value;
  throw validation("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
}

function invalidOperator(name: string): Error {
  return validation(`Invalid operator used in KeyConditionExpression: ${name}`);
}
