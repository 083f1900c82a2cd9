import { DynamoDbError, validation } from "../errors";
import type { Condition, Projection, Update } from "../expression/ast";
import { parseCondition } from "../expression/condition";
import { parseProjection } from "../expression/projection";
import { Scope } from "../expression/scope";
import { parseUpdate } from "../expression/update";
import type { Fields } from "./fields";

export type ExpressionParameter =
  | "UpdateExpression"
  | "ConditionExpression"
  | "KeyConditionExpression"
  | "FilterExpression"
  | "ProjectionExpression";

export interface Expressions {
  readonly update?: Update;
  readonly condition?: Condition;
  readonly keyCondition?: Condition;
  readonly filter?: Condition;
  readonly projection?: Projection;
}

const legacy = [
  "AttributesToGet",
  "AttributeUpdates",
  "ConditionalOperator",
  "Expected",
  "KeyConditions",
  "QueryFilter",
  "ScanFilter",
] as const;

export function readExpressions(fields: Fields, parameters: readonly ExpressionParameter[]): Expressions {
  fields.refuse("use expressions in place of this legacy parameter", ...legacy);
  const present = parameters.filter((parameter) => fields.has(parameter));
  if (fields.has("ExpressionAttributeNames") && present.length === 0) {
    throw validation("ExpressionAttributeNames can only be specified when using expressions");
  }
  const takesValues = parameters.filter((parameter) => parameter !== "ProjectionExpression");
  if (fields.has("ExpressionAttributeValues") && !takesValues.some((parameter) => fields.has(parameter))) {
    const which = `${takesValues.join(" and ")} ${takesValues.length > 1 ? "are" : "is"} null`;
    throw validation(`ExpressionAttributeValues can only be specified when using expressions: ${which}`);
  }
  if (present.length === 0) return {};
  const scope = new Scope(fields.any("ExpressionAttributeNames"), fields.any("ExpressionAttributeValues"));
  const parsed = <T>(parameter: ExpressionParameter, parse: (text: string, scope: Scope) => T): T | undefined => {
    if (!parameters.includes(parameter)) return undefined;
    const text = fields.string(parameter);
    return text === undefined ? undefined : named(parameter, () => parse(text, scope));
  };
  const expressions = {
    update: parsed("UpdateExpression", parseUpdate),
    condition: parsed("ConditionExpression", parseCondition),
    keyCondition: parsed("KeyConditionExpression", parseCondition),
    filter: parsed("FilterExpression", parseCondition),
    projection: parsed("ProjectionExpression", parseProjection),
  };
  scope.requireAllUsed();
  return expressions;
}

function named<T>(parameter: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof DynamoDbError) throw validation(`Invalid ${parameter}: ${error.message}`);
    throw error;
  }
}
