import Ajv from "ajv";
import fc from "fast-check";
import type { JsonSchema, OpenApiDocument } from "../../api/openapi/model";
import { openApiText } from "../../api/openapi/text";
import { allOperations } from "../../api/operations";
import { gatewaySchema, mentionedSchemas, modelName, uncheckedSchemas } from "../../infra/api/schemas";
import { damaged, valuesOf } from "../api/fuzz/arbitrary";
import { rounds, seedOf } from "../support/rounds";

it.each<readonly [string, JsonSchema, JsonSchema]>([
  ["a constant", { type: "string", const: "a" }, { type: "string", enum: ["a"] }],
  ["null as a constant", { const: null }, {}],
  ["a list of types", { type: ["string", "null"] }, {}],
  [
    "an exclusive bound",
    { type: "number", exclusiveMinimum: 0, maximum: 1 },
    { type: "number", minimum: 0, maximum: 1 },
  ],
  [
    "an exclusive bound next to one",
    { type: "number", exclusiveMinimum: 0, minimum: 2 },
    { type: "number", minimum: 2 },
  ],
  ["a choice", { anyOf: [{ type: "string" }, { type: "null" }] }, {}],
  [
    "a tuple",
    { type: "array", prefixItems: [{ type: "string" }], items: false, minItems: 1 },
    { type: "array", items: {}, minItems: 1 },
  ],
  [
    "a map",
    { type: "object", propertyNames: { maxLength: 3 }, additionalProperties: { type: "number" } },
    { type: "object" },
  ],
  [
    "a closed object",
    { type: "object", properties: { a: {} }, required: [], additionalProperties: false },
    { type: "object", properties: { a: {} }, additionalProperties: false },
  ],
  ["words", { type: "string", description: "d", default: "x", example: "y" }, { type: "string" }],
  ["a plain pattern", { type: "string", pattern: "^[a-z]+$" }, { type: "string", pattern: "^[a-z]+$" }],
  ["a pattern that Java reads otherwise", { type: "string", pattern: "^(?!\\s)\\p{L}$" }, { type: "string" }],
  ["a reference", { $ref: "#/components/schemas/Job_Input" }, { $ref: "#/components/schemas/JobInput" }],
])("%s", (_name, schema, expected) => expect(gatewaySchema(schema)).toEqual(expected));

it("replaces references to schemas of which nothing is left", () => {
  const schemas = { Value: { anyOf: [{ type: "string" }, { type: "number" }] }, Named: { type: "object" } };
  const unchecked = uncheckedSchemas(schemas);
  expect([...unchecked]).toEqual(["Value"]);
  const properties = { a: { $ref: "#/components/schemas/Value" }, b: { $ref: "#/components/schemas/Named" } };
  expect(gatewaySchema({ type: "object", properties }, unchecked)).toEqual({
    type: "object",
    properties: { a: {}, b: { $ref: "#/components/schemas/Named" } },
  });
});

/** The keywords of JSON Schema draft 4 that API Gateway supports. */
const known = new Set([
  "$ref",
  "type",
  "enum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "pattern",
  "properties",
  "required",
  "additionalProperties",
  "items",
]);

const document = JSON.parse(openApiText()) as OpenApiDocument;
const { schemas } = document.components;
const bodies = Object.values(document.paths)
  .flatMap((item) => Object.values(item))
  .flatMap(({ operationId, requestBody }) => {
    const schema = requestBody?.content["application/json"]?.schema;
    return schema === undefined ? [] : [[operationId, schema] as const];
  });
const models = Object.fromEntries(
  Object.entries(
    mentionedSchemas(
      bodies.map(([, schema]) => schema),
      schemas,
    ),
  ).map(([name, schema]) => [modelName(name), gatewaySchema(schema)]),
);

it("uses only keywords that API Gateway supports, and distinct names", () => {
  expect(new Set(Object.keys(schemas).map(modelName)).size).toBe(Object.keys(schemas).length);
  const visit = (schema: JsonSchema): void => {
    expect(Object.keys(schema).filter((keyword) => !known.has(keyword))).toEqual([]);
    for (const member of Object.values((schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>))
      visit(member);
    if (schema["items"] !== undefined) visit(schema["items"] as JsonSchema);
  };
  for (const model of Object.values(models)) visit(model);
});

const ajv = new Ajv({ strict: false });
ajv.addSchema({ $id: "api", components: { schemas: models } });

it.each(bodies)("the gateway accepts every body of %s that the API accepts", (operationId, schema) => {
  const operation = allOperations.find((one) => one.operationId === operationId)!;
  const text = JSON.stringify(gatewaySchema(schema)).replaceAll('"#/', '"api#/');
  const validate = ajv.compile(JSON.parse(text) as object);
  const values = valuesOf(schema, schemas);
  const example = fc.constant(operation.bodyExample ?? {});
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof(values, example, example.chain(damaged), values.chain(damaged)), (value) => {
      const body: unknown = JSON.parse(JSON.stringify(value) ?? "{}");
      if (!operation.body!.safeParse(body).success) return;
      taken += 1;
      if (!validate(body)) throw new Error(`refused: ${JSON.stringify(validate.errors)}`);
    }),
    { numRuns: rounds(12, 400), seed: seedOf(7) },
  );
  expect(taken).toBeGreaterThan(2);
});
