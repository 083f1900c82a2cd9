import { attribute, type Item } from "../value/attribute-value";
import { indexKey, itemKey } from "./item-keys";
import { compose, kind } from "./key-codec";
import type { Draft } from "./store";
import { decodeItem, encodeItem } from "./stored-item";
import type { Index, Table } from "./table";

export interface Found {
  readonly key: Buffer;
  readonly stored: string | undefined;
  /** The parsed item. It is parsed on first use. */
  readonly item: Item | undefined;
}

export function find(draft: Draft, table: Table, keyAttributes: Item): Found {
  const key = itemKey(table, keyAttributes);
  const stored = draft.get(key);
  let item: Item | undefined;
  return {
    key,
    stored,
    get item() {
      if (stored !== undefined) item ??= decodeItem(stored);
      return item;
    },
  };
}

/**
 * Replaces, creates, or with `next` undefined removes an item, together with its index entries and its expiry. The number of steps depends only on the number of indexes.
 */
export function replaceItem(draft: Draft, table: Table, found: Found, next: Item | undefined, bytes?: number): void {
  if (next === undefined && found.stored === undefined) return;
  const stored = next && encodeItem(next, bytes);
  if (stored === found.stored) return;
  if (stored !== undefined) draft.put(found.key, stored);
  else draft.del(found.key);
  for (const index of table.indexes) replaceEntry(draft, table, index, found, next, stored);
  if (table.timeToLive) replaceExpiry(draft, table, table.timeToLive.attribute, found, next);
}

function replaceEntry(
  draft: Draft,
  table: Table,
  index: Index,
  found: Found,
  next: Item | undefined,
  stored: string | undefined,
): void {
  const before = found.item && indexKey(table, index, found.item);
  const now = next && indexKey(table, index, next);
  if (before && !now?.equals(before)) draft.del(before);
  if (now && stored !== undefined) draft.put(now, stored);
}

export function addEntry(draft: Draft, table: Table, index: Index, found: Found): void {
  if (found.item) replaceEntry(draft, table, index, { ...found, item: undefined }, found.item, found.stored);
}

function replaceExpiry(draft: Draft, table: Table, name: string, found: Found, next: Item | undefined): void {
  const before = found.item && expiryKey(table, found.key, found.item, name);
  const now = next && expiryKey(table, found.key, next, name);
  if (before && !now?.equals(before)) draft.del(before);
  if (now && !before?.equals(now)) draft.put(now, "");
}

export function addExpiry(draft: Draft, table: Table, name: string, found: Found): void {
  if (found.item) replaceExpiry(draft, table, name, { ...found, item: undefined }, found.item);
}

/** Returns the second when TTL deletes the item, or undefined. TTL considers only numbers. */
export function expirySecond(item: Item, name: string): number | undefined {
  const value = attribute(item, name);
  const second = value && "N" in value ? Math.floor(Number(value.N)) : Number.NaN;
  return second >= 0 && second <= 0xffff_ffff ? second : undefined;
}

function expiryKey(table: Table, key: Buffer, item: Item, name: string): Buffer | undefined {
  const second = expirySecond(item, name);
  return second === undefined ? undefined : compose(kind.expiry, [table.id, second], key.subarray(itemKeyHead));
}

/** The bytes of an item's key before its bucket, and of an expiry's key before the item's. */
const itemKeyHead = 5;
export const expiryKeyHead = 9;
