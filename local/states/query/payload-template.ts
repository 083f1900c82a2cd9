import { isArray, isObject, type Json } from "../json";
import { callIntrinsic } from "./intrinsic-parse";
import { resolve } from "./path";
import type { Scope } from "./scope";

/** Fills a JSONPath payload template. The value of a field named `x.$` is a path or a call of an intrinsic function. */
export function fillPayload(template: Json, field: string, scope: Scope, subject: Json): Json {
  if (isArray(template)) return template.map((item) => fillPayload(item, field, scope, subject));
  if (!isObject(template)) return template;
  const filled: Record<string, Json> = {};
  for (const [key, value] of Object.entries(template)) {
    if (key.endsWith(".$")) filled[key.slice(0, -2)] = expressionValue(value as string, key, scope, subject);
    else filled[key] = fillPayload(value, `${field}/${key}`, scope, subject);
  }
  return filled;
}

/** Returns the value of a path or of a call of an intrinsic function. */
export const expressionValue = (text: string, field: string, scope: Scope, subject: Json): Json =>
  text.startsWith("$") ? resolve(text, field, scope, subject) : callIntrinsic(text, scope, subject);
