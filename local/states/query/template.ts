import { StateError } from "../errors";
import { isArray, isObject, type Json } from "../json";
import { evaluate, jsonataMessage } from "./jsonata";
import type { Scope } from "./scope";

const queryEvaluationError = "States.QueryEvaluationError";

/** Returns the expression inside `{% … %}`, or undefined for any other string. */
export function expressionIn(text: unknown): string | undefined {
  return typeof text === "string" && text.startsWith("{%") && text.endsWith("%}") && text.length >= 4
    ? text.slice(2, -2).trim()
    : undefined;
}

async function evaluateAt(expression: string, field: string, scope: Scope): Promise<Json> {
  const { input, context, result, errorOutput } = scope;
  const said = `The JSONata expression '${expression}' specified for the field '${field}'`;
  const failed = (what: string) => new StateError(queryEvaluationError, `${said} ${what}`, { location: field });
  let value: Json | undefined;
  try {
    const states = { input, context, result, errorOutput };
    value = await evaluate(expression, { ...scope.variables, states }, scope.now);
  } catch (error) {
    throw failed(`threw an error during evaluation. ${jsonataMessage(error)}`);
  }
  if (value === undefined) throw failed("returned nothing (undefined).");
  return value;
}

/**
 * Replaces every `{% … %}` in a JSONata template by its value.
 * @param field position of the template in the state, which errors name: `Arguments/Payload`
 */
export async function fillTemplate(template: Json, field: string, scope: Scope): Promise<Json> {
  if (typeof template === "string") {
    const expression = expressionIn(template);
    return expression === undefined ? template : evaluateAt(expression, field, scope);
  }
  if (isArray(template)) {
    const items: Json[] = [];
    for (const [i, item] of template.entries()) items.push(await fillTemplate(item, `${field}[${i}]`, scope));
    return items;
  }
  if (!isObject(template)) return template;
  const filled: Record<string, Json> = {};
  for (const [key, value] of Object.entries(template)) {
    filled[key] = await fillTemplate(value, `${field}/${key}`, scope);
  }
  return filled;
}

export function unexpectedType(field: string, expected: string, value: Json): StateError {
  const was = value === null ? "null" : isArray(value) ? "array" : typeof value;
  const what = `The field '${field}' has an unexpected type. Expected '${expected}', but was '${was}' for value: ${JSON.stringify(value)}`;
  return new StateError(queryEvaluationError, what, { location: field });
}
