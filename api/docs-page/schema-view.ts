import type { JsonSchema } from "../openapi/model";
import { escapeHtml, inline } from "./html";

/** A schema for people: its type in words, its rules, and its members as a list that opens. Named schemas are links. */
export function schemaView(schema: JsonSchema): string {
  const members = memberList(schema);
  return `<span class="type">${typeText(schema)}</span>${rules(schema)}${members}`;
}

function typeText(schema: JsonSchema): string {
  const { $ref, const: constant, enum: values, anyOf, oneOf, type, items } = schema;
  if (typeof $ref === "string") {
    const name = escapeHtml($ref.slice($ref.lastIndexOf("/") + 1));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (constant !== undefined) return `<code>${escapeHtml(JSON.stringify(constant))}</code>`;
  if (Array.isArray(values))
    return values.map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`).join(" | ");
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return choices.map((choice) => typeText(choice as JsonSchema)).join(" or ");
  if (type === "array") return `list of ${items === undefined ? "anything" : typeText(items as JsonSchema)}`;
  if (type === "object" && schema["properties"] === undefined) {
    const { additionalProperties: each } = schema;
    return `map of ${each !== null && typeof each === "object" ? typeText(each as JsonSchema) : "anything"}`;
  }
  return typeof type === "string" ? type : "anything";
}

const bounds: readonly (readonly [keyword: string, text: string])[] = [
  ["minimum", "≥ "],
  ["exclusiveMinimum", "> "],
  ["maximum", "≤ "],
  ["exclusiveMaximum", "< "],
  ["minLength", "characters ≥ "],
  ["maxLength", "characters ≤ "],
  ["minItems", "elements ≥ "],
  ["maxItems", "elements ≤ "],
  ["pattern", "pattern "],
  ["default", "default "],
];

function rules(schema: JsonSchema): string {
  const found = bounds
    .filter(([keyword]) => schema[keyword] !== undefined && typeof schema[keyword] !== "object")
    .map(([keyword, text]) => `${text}<code>${escapeHtml(String(schema[keyword]))}</code>`);
  const words =
    typeof schema["description"] === "string" ? ` <span class="words">${inline(schema["description"])}</span>` : "";
  return (found.length === 0 ? "" : ` <span class="rules">${found.join(", ")}</span>`) + words;
}

/** Of an object, of a list's elements, or of each of several forms. */
function memberList(schema: JsonSchema): string {
  const { properties, required, items, anyOf, oneOf, additionalProperties } = schema;
  if (properties !== null && typeof properties === "object") {
    const needed = new Set((required ?? []) as readonly string[]);
    const rows = Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(
      ([name, member]) =>
        `<li><code class="name">${escapeHtml(name)}</code>${needed.has(name) ? "" : '<span class="optional">?</span>'} ${schemaView(member)}</li>`,
    );
    return `<ul class="members">${rows.join("")}</ul>`;
  }
  if (items !== null && typeof items === "object") return memberList(items as JsonSchema);
  if (additionalProperties !== null && typeof additionalProperties === "object") {
    return memberList(additionalProperties as JsonSchema);
  }
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) ? choices.map((choice) => memberList(choice as JsonSchema)).join("") : "";
}
