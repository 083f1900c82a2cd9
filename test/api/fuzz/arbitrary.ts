import fc, { type Arbitrary } from "fast-check";
import type { JsonSchema } from "../../../api/openapi/model";

/** Values that have broken programs before. */
const hostileTexts = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "🦄",
  "../../etc/passwd",
  "%00",
  "a/b",
  "a#b",
  "__proto__",
  "constructor",
  "null",
  "NaN",
  "-1",
  "1e400",
  "9".repeat(40),
  "x".repeat(300),
  "TEAM#default#MODEL#digits",
  "' OR 1=1 --",
  "<script>",
];
/** Any character. `"binary"` of `fast-check` first builds a table of all of them, which takes a second. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));
export const hostileText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ maxLength: 40, unit: anyCharacter }),
);
const hostileNumber = fc.constantFrom(
  0,
  -0,
  -1,
  0.5,
  1e-320,
  1e300,
  2 ** 53,
  -(2 ** 53),
  1.7976931348623157e308,
  1e-131,
  1e126,
);
export const hostile: Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.constantFrom(null, true, false, [], {}, [[]], [null], { a: {} }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** By schema: operations share most of theirs, and an arbitrary of texts takes milliseconds to create. */
const known = new WeakMap<JsonSchema, Arbitrary<unknown>>();

export function valuesOf(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): Arbitrary<unknown> {
  let values = known.get(schema);
  if (values === undefined) {
    values = createValues(schema, schemas);
    known.set(schema, values);
  }
  return values;
}

function createValues(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): Arbitrary<unknown> {
  const { $ref, const: constant, enum: values, anyOf, oneOf, type } = schema;
  if (typeof $ref === "string") return valuesOf(schemas[$ref.slice($ref.lastIndexOf("/") + 1)]!, schemas);
  if (constant !== undefined) return fc.constant(constant);
  if (Array.isArray(values)) return fc.constantFrom(...values);
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return fc.oneof(...choices.map((choice) => valuesOf(choice, schemas)));
  switch (type) {
    case "string":
      return texts(schema);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "integer":
      return fc.integer({ min: bound(schema["minimum"], -1_000), max: bound(schema["maximum"], 100_000) });
    case "number":
      return numbers(schema);
    case "array":
      return fc.array(valuesOf((schema["items"] ?? {}) as JsonSchema, schemas), {
        minLength: bound(schema["minItems"], 0),
        maxLength: Math.min(bound(schema["maxItems"], 4), bound(schema["minItems"], 0) + 4),
      });
    case "object":
      return objects(schema, schemas);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

function bound(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

const knownTexts = new Map<string, Arbitrary<string>>();

function texts(schema: JsonSchema): Arbitrary<string> {
  const { pattern, minLength, maxLength } = schema;
  const key = JSON.stringify([pattern, minLength, maxLength]);
  const values = knownTexts.get(key) ?? createTexts(schema);
  knownTexts.set(key, values);
  return values;
}

function createTexts({ pattern, minLength, maxLength }: JsonSchema): Arbitrary<string> {
  if (typeof pattern === "string") return fc.stringMatching(new RegExp(pattern));
  return fc.string({
    minLength: bound(minLength, 0),
    maxLength: Math.min(bound(maxLength, 40), 300),
    unit: "grapheme",
  });
}

function numbers({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): Arbitrary<number> {
  return fc.double({
    min: bound(minimum ?? exclusiveMinimum, -1e6),
    max: bound(maximum ?? exclusiveMaximum, 1e6),
    minExcluded: exclusiveMinimum !== undefined,
    maxExcluded: exclusiveMaximum !== undefined,
    noNaN: true,
  });
}

function objects(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): Arbitrary<unknown> {
  const properties = Object.entries((schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>);
  const { additionalProperties: others } = schema;
  if (properties.length === 0 && others !== null && typeof others === "object") {
    return fc.dictionary(fc.string({ maxLength: 10 }), valuesOf(others as JsonSchema, schemas), { maxKeys: 4 });
  }
  return fc.record(Object.fromEntries(properties.map(([name, member]) => [name, valuesOf(member, schemas)])), {
    requiredKeys: (schema["required"] ?? []) as string[],
  });
}

/** A copy with one to three places changed: replaced, taken out, or with something put in. */
export function damaged(value: unknown): Arbitrary<unknown> {
  const change = fc.tuple(fc.nat(), fc.constantFrom("replace", "remove", "add"), hostile, hostileText);
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    const copy = { root: structuredClone(value) };
    for (const [at, what, replacement, key] of changes) {
      const places = placesIn(copy);
      const place = places[at % places.length];
      if (place === undefined) break;
      if (what === "replace") place.set(structuredClone(replacement));
      else if (what === "remove") place.remove();
      else place.add(key, structuredClone(replacement));
    }
    return copy.root;
  });
}

interface Place {
  set(value: unknown): void;
  remove(): void;
  add(key: string, value: unknown): void;
}

function placesIn(holder: object): readonly Place[] {
  return Object.entries(holder).flatMap(([key, value]): readonly Place[] => {
    const members = holder as Record<string, unknown>;
    const here: Place = {
      set: (next) => {
        members[key] = next;
      },
      remove: () => {
        if (Array.isArray(holder)) holder.splice(Number(key), 1);
        else delete members[key];
      },
      add: (name, next) => {
        if (Array.isArray(value)) value.push(next);
        else if (value !== null && typeof value === "object") {
          Object.defineProperty(value, name, { value: next, enumerable: true, configurable: true, writable: true });
        }
      },
    };
    return value !== null && typeof value === "object" ? [here, ...placesIn(value)] : [here];
  });
}
