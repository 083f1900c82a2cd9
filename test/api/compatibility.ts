import type { JsonSchema, MediaType, OpenApiDocument, Operation, Parameter, Reference } from "../../api/openapi/model";

/** Direction of the fields of a block: `request`, `response`, or both. */
type Direction = "request" | "response";

interface Field {
  readonly type: string;
  readonly required: boolean;
}

interface Block {
  readonly directions: ReadonlySet<Direction>;
  readonly fields: ReadonlyMap<string, Field>;
}

/** The routes and named schemas of an API with their fields. Descriptions, examples, bounds and defaults are left out. */
export type Surface = ReadonlyMap<string, Block>;

/** Reduces an OpenAPI document to what clients depend on. */
export function surfaceOf({ paths, components }: OpenApiDocument): Surface {
  const blocks = new Map<string, { directions: Set<Direction>; fields: ReadonlyMap<string, Field> }>();
  const visit = (value: unknown, direction: Direction): void => {
    for (const [, name = ""] of JSON.stringify(value ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const block = blocks.get(name) ?? {
        directions: new Set(),
        fields: new Map(fieldsOf(components.schemas[name] ?? {})),
      };
      blocks.set(name, block);
      if (block.directions.has(direction)) continue;
      block.directions.add(direction);
      visit(components.schemas[name], direction);
    }
  };
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const { requestBody, responses } = operation;
      visit(requestBody, "request");
      visit(responses, "response");
      blocks.set(`${method.toUpperCase()} ${path}`, {
        directions: new Set<Direction>(["request", "response"]),
        fields: new Map(operationFields(operation, components.parameters)),
      });
    }
  }
  return new Map([...blocks].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function* operationFields(
  { parameters, requestBody, responses }: Operation,
  shared: Readonly<Record<string, Parameter>>,
): Generator<[string, Field]> {
  for (const given of parameters) {
    const parameter = "$ref" in given ? shared[given.$ref.slice(given.$ref.lastIndexOf("/") + 1)] : given;
    if (parameter === undefined) continue;
    yield [`${parameter.in} ${parameter.name}`, { type: typeOf(parameter.schema), required: parameter.required }];
  }
  if (requestBody) yield* contentFields("body", requestBody.content, requestBody.required);
  for (const [status, response] of Object.entries(responses)) {
    if (status.startsWith("2")) yield* contentFields(status, contentOf(response), true);
  }
}

function* contentFields(
  place: string,
  content: Readonly<Record<string, MediaType>>,
  required: boolean,
): Generator<[string, Field]> {
  for (const [media, { schema }] of Object.entries(content)) {
    if (schema === undefined) yield [`${place} ${media}`, { type: "any", required }];
    else {
      yield [place, { type: typeOf(schema), required }];
      yield* fieldsOf(schema, `${place} `);
    }
  }
}

const contentOf = (response: { readonly content?: Readonly<Record<string, MediaType>> } | Reference) =>
  "$ref" in response ? {} : (response.content ?? {});

/** Yields the members of a schema by their path: `split.fractions.train`, `shards[].sha256`, `trigger{drift}.monitor`. */
function* fieldsOf(schema: JsonSchema, prefix = ""): Generator<[string, Field]> {
  const { properties, required = [], items, prefixItems, additionalProperties } = schema;
  for (const [index, choice] of choicesOf(schema).entries()) {
    if (typeOf(choice) === "object") yield* fieldsOf(choice, `${prefix}{${variantName(choice) ?? index}}.`);
  }
  if (Array.isArray(prefixItems)) return;
  if (isSchema(items)) yield* fieldsOf(items, `${prefix.replace(/\.$/, "")}[].`);
  if (isSchema(additionalProperties)) yield* fieldsOf(additionalProperties, `${prefix.replace(/\.$/, "")}[*].`);
  for (const [name, member] of Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>)) {
    yield [`${prefix}${name}`, { type: typeOf(member), required: (required as readonly string[]).includes(name) }];
    yield* fieldsOf(member, `${prefix}${name}.`);
  }
}

const isSchema = (value: unknown): value is JsonSchema => value !== null && typeof value === "object";

/** A discriminated union is named by its constant member. */
function variantName({ properties = {} }: JsonSchema): string | undefined {
  for (const member of Object.values(properties as Readonly<Record<string, JsonSchema>>)) {
    if (typeof member["const"] === "string") return member["const"];
  }
  return undefined;
}

function choicesOf({ anyOf, oneOf, allOf }: JsonSchema): readonly JsonSchema[] {
  return (anyOf ?? oneOf ?? allOf ?? []) as readonly JsonSchema[];
}

function typeOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: values, type, items, prefixItems, additionalProperties } = schema;
  if (typeof $ref === "string") return $ref.slice($ref.lastIndexOf("/") + 1);
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return union(values.map((value) => JSON.stringify(value)));
  const choices = choicesOf(schema);
  if (choices.length > 0) return union(choices.map(typeOf));
  if (Array.isArray(type)) return union(type.map(String));
  if (type === "array" && Array.isArray(prefixItems)) return `[${prefixItems.map(typeOf).join(", ")}]`;
  if (type === "array") return `(${typeOf((items ?? {}) as JsonSchema)})[]`;
  if (type === "object" && schema["properties"] === undefined) {
    return `map(${isSchema(additionalProperties) ? typeOf(additionalProperties) : "any"})`;
  }
  return typeof type === "string" ? type : "any";
}

const union = (types: readonly string[]): string => [...new Set(types)].sort().join(" | ");

/** Writes a surface as text: a block per route or schema, a line per member with its parts; `?` marks optional fields. */
export function print(surface: Surface): string {
  const blocks = [...surface].map(([name, { directions, fields }]) => {
    const lines = new Map<string, string>();
    for (const [field, { type, required }] of fields) {
      const [member = field] = /^(path|query|header) /.test(field) ? ["parameters"] : (/^[^ .[{]*/.exec(field) ?? []);
      const text = `${field}${required ? "" : "?"}: ${type}`;
      const line = lines.get(member);
      lines.set(member, line === undefined ? `  ${text}` : `${line}; ${text}`);
    }
    return [`${name} (${[...directions].sort().join(", ")})`, ...lines.values()].join("\n");
  });
  return `${blocks.join("\n")}\n`;
}

/** Reads what `print` wrote. */
export function parse(text: string): Surface {
  const surface = new Map<string, { directions: Set<Direction>; fields: Map<string, Field> }>();
  let fields = new Map<string, Field>();
  for (const line of text.split("\n").filter((one) => one !== "" && !one.startsWith("#"))) {
    if (line.startsWith("  ")) {
      for (const part of line.trim().split("; ")) {
        const [, field = part, optional, type = ""] = /^(.+?)(\?)?: (.*)$/.exec(part) ?? [];
        fields.set(field, { type, required: optional === undefined });
      }
      continue;
    }
    const [, name = line, directions = ""] = /^(.*) \((.*)\)$/.exec(line) ?? [];
    fields = new Map();
    surface.set(name, { directions: new Set(directions.split(", ") as Direction[]), fields });
  }
  return surface;
}

/**
 * Lists the changes that break clients of the released API: a removed route, schema or field, a changed type, a removed value of an
 * enumeration, a request field that is new and required, a response field that is no longer always present.
 */
export function breakingChanges(released: Surface, current: Surface): readonly string[] {
  const changes: string[] = [];
  for (const [name, { fields, directions }] of released) {
    const block = current.get(name);
    if (block === undefined) {
      changes.push(`${name} was removed`);
      continue;
    }
    const isOperation = name.includes(" ");
    const sends = (field: string, direction: Direction) =>
      isOperation ? /^\d/.test(field) === (direction === "response") : block.directions.has(direction);
    for (const [field, { type, required }] of fields) {
      const now = block.fields.get(field);
      const place = `${name}: ${field}`;
      if (now === undefined) changes.push(`${place} was removed`);
      else {
        const values = new Set(now.type.split(" | "));
        if (!type.split(" | ").every((one) => values.has(one))) changes.push(`${place} was ${type} and is ${now.type}`);
        if (!required && now.required && sends(field, "request")) changes.push(`${place} was optional in requests`);
        if (required && !now.required && sends(field, "response")) changes.push(`${place} was always in responses`);
      }
    }
    for (const [field, { required }] of block.fields) {
      const isNew = !fields.has(field) && directions.has("request");
      if (isNew && required && sends(field, "request") && isPartOf(field, fields)) {
        changes.push(`${name}: ${field} is new and required in requests`);
      }
    }
  }
  return changes;
}

/** Whether the object that holds the field existed: a required member of a new optional object breaks nobody. */
function isPartOf(field: string, fields: ReadonlyMap<string, Field>): boolean {
  const [, parent] = /^(.*?)(?:\{[^{}]*\})?(?:\[[^\]]*\])*\.[^.]+$/.exec(field) ?? [];
  return (
    parent === undefined ||
    parent === "" ||
    fields.has(parent) ||
    [...fields.keys()].some((one) => one.startsWith(`${parent}.`))
  );
}
