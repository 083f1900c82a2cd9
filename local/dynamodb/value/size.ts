import { type AttributeValue, type Item, setMembers } from "./attribute-value";

/** The maximum size of an item, names and values together. */
export const maxItemBytes = 400 * 1024;

/**
 * Returns the metered bytes of an item. Source: "DynamoDB item sizes and formats" in the Amazon DynamoDB Developer
 * Guide.
 */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const name in item) bytes += utf8Bytes(name) + valueBytes(item[name]!);
  return bytes;
}

function valueBytes(value: AttributeValue): number {
  if ("S" in value) return utf8Bytes(value.S);
  if ("N" in value) return numberBytes(value.N);
  if ("B" in value) return binaryBytes(value.B);
  if ("BOOL" in value || "NULL" in value) return 1;
  if ("L" in value) return value.L.reduce((sum, element) => sum + 1 + valueBytes(element), 3);
  if ("M" in value) {
    let bytes = 3;
    for (const name in value.M) bytes += 1 + utf8Bytes(name) + valueBytes(value.M[name]!);
    return bytes;
  }
  const each = "SS" in value ? utf8Bytes : "NS" in value ? numberBytes : binaryBytes;
  return setMembers(value)!.reduce((sum, member) => sum + each(member), 0);
}

function utf8Bytes(text: string): number {
  return Buffer.byteLength(text);
}

function binaryBytes(base64: string): number {
  return Buffer.byteLength(base64, "base64");
}

function numberBytes(text: string): number {
  if (text === "0") return 1;
  const digits = text.replace(/^-?0?\.?0*|[-.]/g, "").length;
  const trailing = text.includes(".") ? 0 : (/0*$/.exec(text)?.[0].length ?? 0);
  return 1 + Math.ceil((digits - trailing) / 2) + (text.startsWith("-") ? 1 : 0);
}
