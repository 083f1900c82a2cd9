import { typeOf } from "../../client/generator/types";

it.each([
  [{ $ref: "#/components/schemas/Run" }, "Run"],
  [{ const: "spot", type: "string" }, '"spot"'],
  [{ enum: ["a", "b"], type: "string" }, '"a" | "b"'],
  [{ anyOf: [{ type: "number" }, { type: "null" }] }, "number | null"],
  [{ type: ["integer", "null"] }, "number | null"],
  [{ type: "array", items: { type: "string" } }, "readonly string[]"],
  [{ type: "array", items: { type: "array", items: { type: "number" } } }, "readonly (readonly number[])[]"],
  [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } }, "readonly (string | number)[]"],
  [{ type: "array", prefixItems: [{ type: "string" }, { type: "number" }] }, "readonly [string, number]"],
  [{ type: "object", additionalProperties: { type: "number" } }, "Readonly<Record<string, number>>"],
  [{ type: "object", properties: {}, additionalProperties: false }, "Readonly<Record<string, unknown>>"],
  [
    {
      type: "object",
      properties: { a: { type: "string" }, "b-c": { description: "why */", type: "boolean" } },
      required: ["a"],
    },
    '{\nreadonly a: string;\n/** why *\\/ */\nreadonly "b-c"?: boolean;\n}',
  ],
  [{}, "unknown"],
])("%j is %s", (schema, type) => expect(typeOf(schema)).toBe(type));
