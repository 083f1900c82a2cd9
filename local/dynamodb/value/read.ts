import { isObject } from "../../json";
import { serialization, validation } from "../errors";
import { type AttributeType, type AttributeValue, attributeTypes, emptyItem, type Item } from "./attribute-value";
import { normalizeNumber } from "./number";

const maxDepth = 32;
const knownTypes: ReadonlySet<string> = new Set(attributeTypes);

export function readItem(raw: unknown, depth = 0): Item {
  if (!isObject(raw)) throw unexpected(raw);
  const item = emptyItem();
  for (const name of Object.keys(raw)) {
    if (raw[name] === null)
      throw validation("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
    item[name] = readValue(raw[name], depth);
  }
  return item;
}

export function readValue(raw: unknown, depth = 0): AttributeValue {
  if (!isObject(raw)) throw unexpected(raw);
  const types = Object.keys(raw).filter((type) => knownTypes.has(type) && raw[type] !== null);
  if (types.length === 0) {
    throw validation("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
  }
  if (types.length > 1) {
    throw validation(
      "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes",
    );
  }
  if (depth > maxDepth) throw validation("Nesting Levels have exceeded supported limits");
  return readTyped(types[0] as AttributeType, raw[types[0]!], depth);
}

function readTyped(type: AttributeType, raw: unknown, depth: number): AttributeValue {
  switch (type) {
    case "S":
      return { S: text(raw) };
    case "N":
      return { N: normalizeNumber(text(raw)) };
    case "B":
      return { B: base64(raw) };
    case "BOOL":
      return { BOOL: boolean(raw) };
    case "NULL":
      if (!boolean(raw)) throw invalid("Null attribute value types must have the value of true");
      return { NULL: true };
    case "SS":
      return { SS: members(raw, text, "An string set  may not be empty", "SS") };
    case "NS":
      return { NS: members(raw, (n) => normalizeNumber(text(n)), "An number set  may not be empty", "NS") };
    case "BS":
      return { BS: members(raw, base64, "Binary sets should not be empty", "BS") };
    case "L":
      if (!Array.isArray(raw)) throw unexpected(raw);
      return { L: raw.map((element) => readValue(element, depth + 1)) };
    case "M":
      return { M: readItem(raw, depth + 1) };
  }
}

function members(raw: unknown, read: (raw: unknown) => string, whenEmpty: string, type: string): string[] {
  if (!Array.isArray(raw)) throw unexpected(raw);
  if (raw.length === 0) throw invalid(whenEmpty);
  const values = raw.map(read);
  if (new Set(values).size < values.length) {
    if (type === "NS") throw validation("Input collection contains duplicates");
    throw invalid(`Input collection [${values.join(", ")}]${type === "BS" ? "of type BS" : ""} contains duplicates.`);
  }
  return values;
}

export function invalid(rule: string): Error {
  return validation(`One or more parameter values were invalid: ${rule}`);
}

function text(raw: unknown): string {
  if (typeof raw === "string") return raw;
  if (typeof raw === "number") throw serialization("NUMBER_VALUE cannot be converted to String");
  if (typeof raw === "boolean") throw serialization(`${raw ? "TRUE" : "FALSE"}_VALUE cannot be converted to String`);
  throw unexpected(raw);
}

function boolean(raw: unknown): boolean {
  if (typeof raw === "boolean") return raw;
  throw serialization("Unexpected token received from parser");
}

function base64(raw: unknown): string {
  const encoded = text(raw);
  if (encoded.length % 4 !== 0) {
    throw serialization(`Base64 encoded length is expected a multiple of 4 bytes but found: ${encoded.length}`);
  }
  if (Buffer.from(encoded, "base64").toString("base64") !== encoded) {
    throw serialization("Invalid last non-pad Base64 character dectected");
  }
  return encoded;
}

function unexpected(raw: unknown): Error {
  return serialization(
    Array.isArray(raw) ? "Unexpected list where a structure was expected" : "Unexpected value type in payload",
  );
}
