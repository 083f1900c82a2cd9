export type AttributeValue =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly B: string }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] }
  | { readonly BOOL: boolean }
  | { readonly NULL: boolean }
  | { readonly L: readonly AttributeValue[] }
  | { readonly M: Item };

export type Item = { readonly [name: string]: AttributeValue };

export const attributeTypes = ["S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"] as const;
export type AttributeType = (typeof attributeTypes)[number];

export type KeyType = "S" | "N" | "B";

export function typeOf(value: AttributeValue): AttributeType {
  for (const type in value) return type as AttributeType;
  throw new Error("An attribute value without a type passed validation; this is a bug of local/dynamodb");
}

/**
 * Returns the attribute with that name, if the item has it. An attribute may have the name `constructor`, so only own
 * members count.
 */
export function attribute(item: Item, name: string): AttributeValue | undefined {
  return Object.hasOwn(item, name) ? item[name] : undefined;
}

/** Creates a map without a prototype, so that `__proto__` is an ordinary attribute name. */
export function emptyItem(): Record<string, AttributeValue> {
  return Object.create(null) as Record<string, AttributeValue>;
}

export function setMembers(value: AttributeValue): readonly string[] | undefined {
  if ("SS" in value) return value.SS;
  if ("NS" in value) return value.NS;
  if ("BS" in value) return value.BS;
  return undefined;
}
