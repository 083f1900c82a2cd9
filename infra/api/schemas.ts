import type { JsonSchema } from "../../api/openapi/model";

/**
 * Returns the part of a schema that API Gateway can check: draft 4, in part
 * (docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html). Every valid value fits; the
 * function checks the rest. References to `unchecked` schemas become the empty schema.
 */
export function gatewaySchema(schema: JsonSchema, unchecked: ReadonlySet<string> = new Set()): JsonSchema {
  const { $ref, const: constant, enum: values, type, properties, required, items, pattern } = schema;
  if (typeof $ref === "string") {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return unchecked.has(name) ? {} : { $ref: `#/components/schemas/${modelName(name)}` };
  }
  const checked: Record<string, unknown> = {};
  // Draft 4 has neither `nullable` nor a list of types that OpenAPI 3.0 accepts, so such a value is not checked.
  if (typeof type === "string" && type !== "null") checked["type"] = type;
  if (constant !== undefined && constant !== null) checked["enum"] = [constant];
  if (Array.isArray(values) && !values.includes(null)) checked["enum"] = values;
  for (const keyword of ["minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"] as const) {
    if (typeof schema[keyword] === "number") checked[keyword] = schema[keyword];
  }
  // Exclusive bounds are not supported there. The inclusive bound accepts more.
  for (const [exclusive, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof schema[exclusive] === "number" && checked[bound] === undefined) checked[bound] = schema[exclusive];
  }
  if (typeof pattern === "string" && isPlainPattern(pattern)) checked["pattern"] = pattern;
  if (properties !== null && typeof properties === "object") {
    checked["properties"] = Object.fromEntries(
      Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, member]) => [
        name,
        gatewaySchema(member, unchecked),
      ]),
    );
  }
  // Draft 4 requires at least one name.
  if (Array.isArray(required) && required.length > 0) checked["required"] = required;
  if (schema["additionalProperties"] === false) checked["additionalProperties"] = false;
  if (type === "array")
    checked["items"] = items !== null && typeof items === "object" ? gatewaySchema(items as JsonSchema, unchecked) : {};
  return checked;
}

/** Returns a model name, which may contain only letters and digits. */
export function modelName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, "");
}

/** Whether a pattern means the same elsewhere: no look-around, Unicode classes or numeric escapes. */
function isPlainPattern(pattern: string): boolean {
  return !/\(\?|\\[pPxuk]/.test(pattern);
}

export function uncheckedSchemas(schemas: Readonly<Record<string, JsonSchema>>): ReadonlySet<string> {
  const names = Object.keys(schemas).filter((name) => Object.keys(gatewaySchema(schemas[name]!)).length === 0);
  return new Set(names);
}

/** Returns the named schemas that the given ones refer to, directly or indirectly. */
export function mentionedSchemas(
  roots: readonly JsonSchema[],
  schemas: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, JsonSchema>> {
  const named = new Map<string, JsonSchema>();
  const visit = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
      const schema = schemas[name!];
      if (schema === undefined || named.has(name!)) continue;
      named.set(name!, schema);
      visit(gatewaySchema(schema));
    }
  };
  for (const root of roots) visit(gatewaySchema(root));
  return Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
}
