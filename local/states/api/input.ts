import { ServiceError } from "../errors";
import type { Json, JsonObject } from "../json";

export class Input {
  constructor(readonly fields: JsonObject) {}

  private invalid(name: string, value: Json | undefined, rule: string): never {
    const shown =
      value === undefined ? "null" : `'${typeof value === "string" ? value.slice(0, 256) : JSON.stringify(value)}'`;
    throw new ServiceError(
      "ValidationException",
      `1 validation error detected: Value ${shown} at '${name}' failed to satisfy constraint: ${rule}`,
    );
  }

  has = (name: string): boolean => this.fields[name] !== undefined && this.fields[name] !== null;

  string(name: string, limits: { readonly min?: number; readonly max?: number } = {}): string {
    const value = this.fields[name] ?? undefined;
    if (value === undefined) return this.invalid(name, value, "Member must not be null");
    if (typeof value !== "string") {
      throw new ServiceError("SerializationException", `The member '${name}' must be a string`);
    }
    const { min = 1, max = 262_144 } = limits;
    if (value.length < min) return this.invalid(name, value, `Member must have length greater than or equal to ${min}`);
    if (value.length > max) return this.invalid(name, value, `Member must have length less than or equal to ${max}`);
    return value;
  }

  optional(name: string, limits: { readonly min?: number; readonly max?: number } = {}): string | undefined {
    return this.has(name) ? this.string(name, limits) : undefined;
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.optional(name);
    if (value === undefined) return undefined;
    const match = values.find((each) => each === value);
    return match ?? this.invalid(name, value, `Member must satisfy enum value set: [${values.join(", ")}]`);
  }

  boolean(name: string, otherwise: boolean): boolean {
    const value = this.fields[name] ?? otherwise;
    if (typeof value !== "boolean")
      throw new ServiceError("SerializationException", `The member '${name}' must be a boolean`);
    return value;
  }

  /** Reads the size of a page. 0 means the default. */
  maxResults(): number {
    const value = this.fields["maxResults"] ?? 0;
    if (typeof value !== "number")
      throw new ServiceError("SerializationException", "The member 'maxResults' must be a number");
    if (value < 0) return this.invalid("maxResults", value, "Member must have value greater than or equal to 0");
    if (value > 1000) return this.invalid("maxResults", value, "Member must have value less than or equal to 1000");
    return value === 0 ? 100 : value;
  }

  cursor(listing: string): string | undefined {
    const token = this.optional("nextToken", { max: 3096 });
    if (token === undefined) return undefined;
    const [kind, cursor] = Buffer.from(token, "base64url").toString().split("\n");
    if (kind === listing && cursor) return cursor;
    throw new ServiceError("InvalidToken", "Invalid Token: 'Invalid token'");
  }
}

export const nextToken = (listing: string, cursor: string | undefined): { readonly nextToken?: string } =>
  cursor === undefined ? {} : { nextToken: Buffer.from(`${listing}\n${cursor}`).toString("base64url") };

const forbidden = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}]/u;

export function checkedName(name: string): string {
  if (name.length <= 80 && !forbidden.test(name)) return name;
  throw new ServiceError("InvalidName", `Invalid Name: '${name}'`);
}
