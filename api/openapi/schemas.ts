import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { JsonSchema } from "./model";

/** Collects the schemas that have a name (`.meta({ id })`) while others are converted. */
export class SchemaCollection {
  readonly #named = new Map<string, JsonSchema>();

  /**
   * A zod schema as JSON Schema 2020-12; named ones become references to `#/components/schemas`.
   *
   * Rules that compare fields (`refine`) have no counterpart there: a request may keep its schema and still be refused with INVALID_INPUT.
   * @param io whether as a client writes it (`input`) or as the API answers it (`output`, defaults filled in)
   * @throws Error where one name stands for two schemas
   */
  add(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const { $schema: _, $defs = {}, ...json } = z.toJSONSchema(schema, { io, override: (at) => tidy(at, io) });
    for (const [name, definition] of Object.entries($defs)) {
      const { id: _id, ...rest } = withReferences(definition as JsonSchema);
      const known = this.#named.get(name);
      if (known !== undefined && !isDeepStrictEqual(known, rest)) {
        throw new Error(`the API has two schemas with the id ${name}: give one of them another`);
      }
      this.#named.set(name, rest);
    }
    return withReferences(json);
  }

  /** By name, in the order of names. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#named].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>["override"]>;

const tidy = ({ zodSchema, jsonSchema }: Parameters<Override>[0], io: "input" | "output"): void => {
  // Bounds of a double's whole numbers say nothing that a reader of JSON does not know.
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (io === "input") return;
  // An answer always has them; and it may have more members one day, which a client must bear.
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
