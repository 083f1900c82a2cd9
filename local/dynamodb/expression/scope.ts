import { isObject } from "../../json";
import { validation } from "../errors";
import type { AttributeValue } from "../value/attribute-value";
import { readValue } from "../value/read";
import { isReservedWord } from "./reserved-words";

/**
 * The placeholders of one request, `#name` and `:value`. All of its expressions share them, and each must be used at
 * least once.
 */
export class Scope {
  private readonly names: ReadonlyMap<string, string>;
  private readonly values: ReadonlyMap<string, AttributeValue>;
  private readonly unusedNames: Set<string>;
  private readonly unusedValues: Set<string>;

  constructor(rawNames: unknown, rawValues: unknown) {
    this.names = readNames(rawNames);
    this.values = readValues(rawValues);
    this.unusedNames = new Set(this.names.keys());
    this.unusedValues = new Set(this.values.keys());
  }

  name(text: string): string {
    if (!text.startsWith("#")) {
      if (isReservedWord(text)) throw validation(`Attribute name is a reserved keyword; reserved keyword: ${text}`);
      return text;
    }
    const name = this.names.get(text);
    if (name === undefined) {
      throw validation(
        `An expression attribute name used in the document path is not defined; attribute name: ${text}`,
      );
    }
    this.unusedNames.delete(text);
    return name;
  }

  value(text: string): AttributeValue {
    const value = this.values.get(text);
    if (value === undefined) {
      throw validation(`An expression attribute value used in expression is not defined; attribute value: ${text}`);
    }
    this.unusedValues.delete(text);
    return value;
  }

  /** Checks that every placeholder was used. Call it after all expressions are parsed. */
  requireAllUsed(): void {
    requireNone("ExpressionAttributeNames", this.unusedNames);
    requireNone("ExpressionAttributeValues", this.unusedValues);
  }
}

function requireNone(parameter: string, unused: ReadonlySet<string>): void {
  if (unused.size === 0) return;
  throw validation(`Value provided in ${parameter} unused in expressions: keys: {${[...unused].join(", ")}}`);
}

function readNames(raw: unknown): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const [key, name] of entries("ExpressionAttributeNames", raw, /^#[0-9a-zA-Z_]+$/)) {
    if (typeof name !== "string" || name === "") {
      throw validation(`ExpressionAttributeNames contains invalid value: Empty attribute name; key: "${key}"`);
    }
    names.set(key, name);
  }
  return names;
}

function readValues(raw: unknown): ReadonlyMap<string, AttributeValue> {
  const values = new Map<string, AttributeValue>();
  for (const [key, value] of entries("ExpressionAttributeValues", raw, /^:[0-9a-zA-Z_]+$/)) {
    try {
      values.set(key, readValue(value));
    } catch (cause) {
      const { message } = cause as Error;
      throw validation(`ExpressionAttributeValues contains invalid value: ${message} for key ${key}`);
    }
  }
  return values;
}

function entries(parameter: string, raw: unknown, key: RegExp): readonly [string, unknown][] {
  if (raw === undefined || raw === null) return [];
  if (!isObject(raw)) throw validation(`${parameter} must be a map`);
  const all = Object.entries(raw);
  if (all.length === 0) throw validation(`${parameter} must not be empty`);
  for (const [name] of all) {
    if (!key.test(name)) throw validation(`${parameter} contains invalid key: Syntax error; key: "${name}"`);
  }
  return all;
}
