import type { Item } from "../value/attribute-value";
import { itemBytes } from "../value/size";

/**
 * The length of the size prefix. An item is stored as five hexadecimal digits of metered size, then JSON. A read
 * without filter and projection sends the JSON unparsed and still knows its size for the page limit.
 */
const sizeDigits = 5;

export function encodeItem(item: Item, bytes = itemBytes(item)): string {
  return bytes.toString(16).padStart(sizeDigits, "0") + JSON.stringify(item);
}

export function decodeItem(stored: string): Item {
  return JSON.parse(stored.slice(sizeDigits)) as Item;
}

export function storedJson(stored: string): string {
  return stored.slice(sizeDigits);
}

export function storedBytes(stored: string): number {
  return Number.parseInt(stored.slice(0, sizeDigits), 16);
}
