type Attribute = Readonly<Record<string, unknown>>;

/** A value that only the SDK can translate: sets, dates, bigints, classes, non-finite numbers, lists with holes. */
export class UnusualValue extends Error {}

const maps: ReadonlySet<string> = new Set(["Item", "Key", "ExpressionAttributeValues", "ExclusiveStartKey"]);
const shownMaps: ReadonlySet<string> = new Set(["Item", "Key", "Attributes", "LastEvaluatedKey"]);
const shownLists: ReadonlySet<string> = new Set(["Items", "Keys"]);

/**
 * Translates the input of a document command to the wire format with attribute values.
 *
 * @throws UnusualValue
 */
export function toWire(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(toWire);
  if (typeof input !== "object" || input === null) return input;
  const wire: Record<string, unknown> = {};
  for (const name in input) {
    const value = (input as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) continue;
    if (maps.has(name)) wire[name] = attributesOf(value);
    else if (name === "Keys") wire[name] = (value as readonly unknown[]).map(attributesOf);
    else wire[name] = toWire(value);
  }
  return wire;
}

/** Translates an answer from the wire format. `Responses` are lists of items by table. */
export function fromWire(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(fromWire);
  if (typeof answer !== "object" || answer === null) return answer;
  const output: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(answer)) {
    if (shownMaps.has(name)) output[name] = valuesOf(value as Attribute);
    else if (shownLists.has(name)) output[name] = (value as readonly Attribute[]).map(valuesOf);
    else if (name === "Responses") output[name] = responsesOf(value as Readonly<Record<string, readonly Attribute[]>>);
    else output[name] = fromWire(value);
  }
  return output;
}

function responsesOf(responses: Readonly<Record<string, readonly Attribute[]>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(responses).map(([table, items]) => [table, items.map(valuesOf)]));
}

function attributesOf(values: unknown): Attribute {
  if (!isPlain(values)) throw new UnusualValue();
  const attributes: Record<string, Attribute> = {};
  for (const name in values) {
    const value = values[name];
    if (value !== undefined) attributes[name] = attributeOf(value);
  }
  return attributes;
}

function attributeOf(value: unknown): Attribute {
  switch (typeof value) {
    case "string":
      return { S: value };
    case "number":
      if (!Number.isFinite(value)) throw new UnusualValue();
      return { N: String(value) };
    case "boolean":
      return { BOOL: value };
    case "object":
      if (value === null) return { NULL: true };
      if (Array.isArray(value)) return { L: Array.from(value, attributeOf) };
      if (value instanceof Uint8Array) {
        return { B: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
      }
      return { M: attributesOf(value) };
    default:
      throw new UnusualValue();
  }
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function valuesOf(attributes: Attribute): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name in attributes) values[name] = valueIn(attributes[name] as Attribute);
  return values;
}

function valueIn(attribute: Attribute): unknown {
  for (const type in attribute) {
    const value = attribute[type];
    switch (type) {
      case "S":
      case "BOOL":
        return value;
      case "N":
        return Number(value);
      case "NULL":
        return null;
      case "B":
        return bytesOf(value as string);
      case "L":
        return (value as readonly Attribute[]).map(valueIn);
      case "M":
        return valuesOf(value as Attribute);
      case "SS":
        return new Set(value as readonly string[]);
      case "NS":
        return new Set((value as readonly string[]).map(Number));
      case "BS":
        return new Set((value as readonly string[]).map(bytesOf));
    }
  }
  throw new UnusualValue();
}

function bytesOf(base64: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = Buffer.from(base64, "base64");
  return new Uint8Array(buffer, byteOffset, byteLength);
}
