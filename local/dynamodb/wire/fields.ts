import { isObject } from "../../json";
import { notImplemented, serialization, validation } from "../errors";
import type { Item } from "../value/attribute-value";
import { readItem } from "../value/read";

const tableName = /^[a-zA-Z0-9_.-]{3,255}$/;
/** Matches the ARN of a table, with its name as the first group. */
const tableArn = /^arn:aws[a-z-]*:dynamodb:[^:]*:[0-9]*:table\/([a-zA-Z0-9_.-]{3,255})$/;
const namePattern = "[a-zA-Z0-9_.-]+";

/**
 * Reads the members of a request's structure. A value of another JSON type is refused at once. Violated constraints are
 * collected, and `check` refuses them together with AWS's messages.
 */
export class Fields {
  private constructor(
    private readonly raw: Readonly<Record<string, unknown>>,
    private readonly path: string,
    private readonly broken: string[],
  ) {}

  static of(raw: unknown): Fields {
    if (!isObject(raw)) throw serialization("Start of structure expected");
    return new Fields(raw, "", []);
  }

  has(name: string): boolean {
    return this.raw[name] !== undefined && this.raw[name] !== null;
  }

  asObject(): Readonly<Record<string, unknown>> {
    return this.raw;
  }

  /** Returns the member unchecked. */
  any(name: string): unknown {
    return this.raw[name] ?? undefined;
  }

  /** Refuses DynamoDB parameters that this service does not implement. */
  refuse(instead: string, ...names: readonly string[]): void {
    for (const name of names) if (this.has(name)) throw notImplemented(name, instead);
  }

  string(name: string): string | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "string") return value;
    throw serialization(
      `${typeof value === "object" ? "Start of structure or list" : typeof value} cannot be converted to String at '${this.at(name)}'`,
    );
  }

  requiredString(name: string): string {
    const value = this.string(name);
    return value ?? this.missing(name, "");
  }

  boolean(name: string): boolean | undefined {
    const value = this.any(name);
    if (value === undefined || typeof value === "boolean") return value;
    throw serialization(`${String(value)} cannot be converted to Boolean at '${this.at(name)}'`);
  }

  integer(name: string, minimum: number, maximum = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    if (typeof value !== "number")
      throw serialization(`${typeof value} cannot be converted to Integer at '${this.at(name)}'`);
    const whole = Math.floor(value);
    if (whole < minimum) this.breaks(name, whole, `have value greater than or equal to ${minimum}`);
    if (whole > maximum) this.breaks(name, whole, `have value less than or equal to ${maximum}`);
    return whole;
  }

  choice<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.string(name);
    if (value === undefined || (values as readonly string[]).includes(value)) return value as T | undefined;
    this.breaks(name, value, `satisfy enum value set: [${values.join(", ")}]`);
    return undefined;
  }

  requiredChoice<T extends string>(name: string, values: readonly [T, ...T[]]): T {
    return this.has(name) ? (this.choice(name, values) ?? values[0]) : this.missing(name, values[0]);
  }

  tableName(name = "TableName"): string {
    const value = this.string(name);
    if (value === undefined) return this.missing(name, "");
    const fromArn = tableArn.exec(value)?.[1];
    if (fromArn) return fromArn;
    this.checkName(name, value);
    return value;
  }

  /** Reads a name of 3 to 255 letters, digits, `_`, `.` and `-`. */
  resourceName(name: string): string | undefined {
    const value = this.string(name);
    if (value !== undefined) this.checkName(name, value);
    return value;
  }

  private checkName(name: string, value: string): void {
    if (tableName.test(value)) return;
    if (!/^[a-zA-Z0-9_.-]*$/.test(value))
      this.breaks(name, value, `satisfy regular expression pattern: ${namePattern}`);
    if (value.length < 3) this.breaks(name, value, "have length greater than or equal to 3");
    if (value.length > 255) this.breaks(name, value, "have length less than or equal to 255");
  }

  item(name: string): Item | undefined {
    const value = this.any(name);
    return value === undefined ? undefined : readItem(value);
  }

  requiredItem(name: string): Item {
    return this.item(name) ?? this.missing(name, {});
  }

  structure(name: string): Fields | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    if (!isObject(value)) throw serialization(`Unexpected value type in payload at '${this.at(name)}'`);
    return new Fields(value, `${this.at(name)}.`, this.broken);
  }

  structures(name: string): readonly Fields[] | undefined {
    return this.list(name)?.map((element, i) => {
      if (!isObject(element)) throw serialization(`Unexpected value type in payload at '${this.at(name)}'`);
      return new Fields(element, `${this.at(name)}.${i + 1}.member.`, this.broken);
    });
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.any(name);
    if (value === undefined || Array.isArray(value)) return value;
    throw serialization(`Unexpected field type at '${this.at(name)}'`);
  }

  map(name: string): readonly (readonly [string, unknown])[] | undefined {
    const value = this.any(name);
    if (value === undefined) return undefined;
    if (!isObject(value)) throw serialization(`Unexpected field type at '${this.at(name)}'`);
    return Object.entries(value);
  }

  breaks(name: string, value: unknown, rule: string): void {
    const shown =
      value === undefined ? "null" : `'${typeof value === "object" ? JSON.stringify(value) : String(value)}'`;
    this.broken.push(`Value ${shown} at '${this.at(name)}' failed to satisfy constraint: Member must ${rule}`);
  }

  /** Records that a required member is missing. Returns `standIn`, so that all members are read before `check`. */
  missing<T>(name: string, standIn: T): T {
    this.breaks(name, undefined, "not be null");
    return standIn;
  }

  check(): void {
    const count = this.broken.length;
    if (count === 0) return;
    const shown = this.broken.slice(0, 10).join("; ");
    throw validation(`${count} validation error${count > 1 ? "s" : ""} detected: ${shown}`);
  }

  private at(name: string): string {
    return `${this.path}${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  }
}
