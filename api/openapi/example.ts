import * as z from "zod";
import type { JsonSchema } from "./model";

/** Greater depths of a recursive schema are left empty. */
const maxDepth = 12;

/**
 * Returns a value that keeps a response's schema, with the required members only. A leaf is its `example`, its first
 * choice or the least value that it may have.
 */
export function exampleOf(schema: z.ZodType): unknown {
  const { $defs = {}, ...json } = z.toJSONSchema(schema, { io: "output" }) as JsonSchema;
  return sampleOf(json, $defs as Readonly<Record<string, JsonSchema>>, 0);
}

function sampleOf(schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>, depth: number): unknown {
  const { example, enum: choices, $ref, anyOf, oneOf, allOf, items, prefixItems, properties, required = [] } = schema;
  const inner = (part: unknown): unknown => sampleOf((part ?? {}) as JsonSchema, definitions, depth + 1);
  if (example !== undefined) return example;
  if (schema["default"] !== undefined) return schema["default"];
  if (schema["const"] !== undefined) return schema["const"];
  if (Array.isArray(choices)) return choices[0];
  if (typeof $ref === "string") return inner(definitions[$ref.slice($ref.lastIndexOf("/") + 1)]);
  const parts = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined;
  if (parts) return inner(parts[0]);
  if (Array.isArray(allOf)) return Object.assign({}, ...allOf.map(inner));
  if (Array.isArray(prefixItems)) return prefixItems.map(inner);
  if (schema["type"] === "array") return depth > maxDepth ? [] : [inner(items)];
  if (schema["type"] === "object") {
    const members = (properties ?? {}) as Readonly<Record<string, unknown>>;
    return Object.fromEntries((required as readonly string[]).map((name) => [name, inner(members[name])]));
  }
  if (schema["type"] === "boolean") return true;
  if (schema["type"] === "null") return null;
  const { minimum, exclusiveMinimum, minLength = 0 } = schema as { readonly [keyword: string]: number | undefined };
  if (schema["type"] === "number" || schema["type"] === "integer")
    return minimum ?? (exclusiveMinimum === undefined ? 1 : exclusiveMinimum + 1);
  if (schema["format"] === "date") return "2026-01-01";
  if (schema["format"] === "date-time") return "2026-01-01T09:30:00.000Z";
  return "text".padEnd(minLength, ".");
}
