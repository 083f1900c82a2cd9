import type { Item } from "../value/attribute-value";
import { itemBytes } from "../value/size";

/**
 * Items are stored as five hexadecimal digits of metered size, then JSON. A read that neither filters nor projects passes
 * the JSON on as it is, unparsed, and still knows its size for the page limit.
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
