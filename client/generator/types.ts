import type { JsonSchema } from "../../api/openapi/model";

/** A JSON Schema as a TypeScript type. What TypeScript cannot say (patterns, bounds) is left to the API. */
export function typeOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: values, anyOf, oneOf, allOf, type } = schema;
  if (typeof $ref === "string") return $ref.slice($ref.lastIndexOf("/") + 1);
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return union(values.map((value) => JSON.stringify(value)));
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return union(choices.map(typeOf));
  // A reference with words of its own is written as `allOf` with one member.
  if (Array.isArray(allOf)) return allOf.map(typeOf).join(" & ");
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one })));
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return arrayOf(schema);
    case "object":
      return objectOf(schema);
    default:
      return "unknown";
  }
}

/** `/** … *\/` before a member; nothing where there is nothing to say. */
export function comment(text: unknown, indent = ""): string {
  return typeof text === "string" ? `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n` : "";
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

function arrayOf({ items, prefixItems }: JsonSchema): string {
  if (Array.isArray(prefixItems)) return `readonly [${prefixItems.map(typeOf).join(", ")}]`;
  const item = items === undefined ? "unknown" : typeOf(items as JsonSchema);
  return `readonly ${/^[\w.]+$|^\{[^{}]*\}$/.test(item) ? item : `(${item})`}[]`;
}

function objectOf({ properties, required, additionalProperties }: JsonSchema): string {
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>);
  const others = additionalProperties !== null && typeof additionalProperties === "object";
  if (members.length === 0) {
    return `Readonly<Record<string, ${others ? typeOf(additionalProperties as JsonSchema) : "unknown"}>>`;
  }
  const needed = new Set((required ?? []) as readonly string[]);
  const lines = members.map(
    ([name, member]) =>
      `${comment(member["description"])}readonly ${keyOf(name)}${needed.has(name) ? "" : "?"}: ${typeOf(member)};`,
  );
  if (additionalProperties === true || (others && Object.keys(additionalProperties as object).length === 0)) {
    lines.push("readonly [others: string]: unknown;");
  }
  return `{\n${lines.join("\n")}\n}`;
}

export function keyOf(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
