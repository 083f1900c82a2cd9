import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { JsonSchema } from "./model";

/** Collects the named schemas (`.meta({ id })`) while others are converted. */
export class SchemaCollection {
  private readonly named = new Map<string, JsonSchema>();

  /**
   * Converts a zod schema to JSON Schema 2020-12; named schemas become references to `#/components/schemas`.
   *
   * Rules that compare fields (`refine`) cannot be expressed there: a request may match its schema and still be refused
   * with INVALID_INPUT.
   *
   * @param io `input`: as a client writes it; `output`: as the API returns it, with defaults filled in
   * @throws Error if one name stands for two schemas
   */
  add(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const { $schema: _, $defs = {}, ...json } = z.toJSONSchema(schema, { io, override: (at) => tidy(at, io) });
    for (const [name, definition] of Object.entries($defs)) {
      const { id: _id, ...rest } = withReferences(definition as JsonSchema);
      const known = this.named.get(name);
      if (known !== undefined && !isDeepStrictEqual(known, rest)) {
        throw new Error(`the API has two schemas with the id ${name}: give one of them another`);
      }
      this.named.set(name, rest);
    }
    return withReferences(json);
  }

  /** The named schemas, ordered by name. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>["override"]>;

const tidy = ({ zodSchema, jsonSchema }: Parameters<Override>[0], io: "input" | "output"): void => {
  // The bounds of a double's whole numbers are known to every reader of JSON.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (io === "input") return;
  // A response always has members with defaults. It may get additional members, which clients must ignore.
  delete jsonSchema.default;
  const { def } = zodSchema._zod;
  if (def.type === "object" && def.catchall === undefined) delete jsonSchema.additionalProperties;
};

function withReferences<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withReferences) as T;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === "$ref" && typeof member === "string"
        ? member.replace("#/$defs/", "#/components/schemas/")
        : withReferences(member),
    ]),
  ) as T;
}
