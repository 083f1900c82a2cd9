import fs from "node:fs";
import path from "node:path";
import { isDamage } from "./damage";
import { holdsObject } from "./directories";
import { type BinaryKey, type Entry, parseEntry, startOfPrefix } from "./keys";
import type { ObjectRecord } from "./record";
import type { Store } from "./store";

export interface ListQuery {
  /** The prefix. All strings here are binary strings (keys.ts). */
  readonly prefix: string;
  readonly delimiter: string;
  /**
   * The position after which the page begins. Keys up to this one are skipped, and so is a common prefix that it begins
   * with.
   */
  readonly after: string;
  readonly limit: number;
}

export type Listed = { readonly key: string; readonly record?: ObjectRecord } | { readonly commonPrefix: string };

export interface ListPage {
  readonly items: readonly Listed[];
  readonly truncated: boolean;
}

/**
 * Returns one page of a bucket's keys in S3's order. Keys with the delimiter after the prefix are grouped into common
 * prefixes.
 */
export function listObjects(store: Store, bucket: string, query: ListQuery, folders: FolderCache): ListPage {
  const items: Listed[] = [];
  if (query.limit === 0) return { items, truncated: false };
  const start = startOfPrefix(query.prefix);
  const walk = new Walk(store, bucket, query, folders);
  for (const item of walk.run(path.join(store.disk.objects(bucket), start.directory), start.base)) {
    if (items.length === query.limit) return { items, truncated: true };
    items.push(item);
  }
  return { items, truncated: false };
}

class Walk {
  private readonly store: Store;
  private readonly bucket: string;
  private readonly query: ListQuery;
  private readonly folders: FolderCache;
  /** The last common prefix in the list. It includes all other keys below it. */
  private rolledUp: string | undefined;

  constructor(store: Store, bucket: string, query: ListQuery, folders: FolderCache) {
    this.store = store;
    this.bucket = bucket;
    this.query = query;
    this.folders = folders;
    this.rolledUp = this.commonPrefixOf(query.after);
  }

  *run(directory: string, base: string): Generator<Listed> {
    const { prefix, after } = this.query;
    for (const entry of this.folders.entries(directory)) {
      const text = base + entry.text;
      const file = path.join(directory, entry.fileName);
      if (entry.kind === "object") {
        if (text > after && text.startsWith(prefix)) yield* this.object(text);
        continue;
      }
      const inPrefix = text.startsWith(prefix) || prefix.startsWith(text);
      const passed = text <= after && !after.startsWith(text);
      if (!inPrefix || passed || this.isRolledUp(text)) continue;
      const common = this.commonPrefixOf(text);
      if (common === undefined) yield* this.run(file, text);
      else if (holdsObject(file)) yield* this.rollUp(common);
    }
  }

  private *object(key: string): Generator<Listed> {
    if (this.isRolledUp(key)) return;
    const common = this.commonPrefixOf(key);
    if (common !== undefined) {
      yield* this.rollUp(common);
      return;
    }
    try {
      const record = this.store.recordOf(this.bucket, key as BinaryKey);
      if (record) yield { key, record }; // The object was deleted after the folder was read.
    } catch (error) {
      if (!isDamage(error)) throw error;
      yield { key };
    }
  }

  private *rollUp(commonPrefix: string): Generator<Listed> {
    this.rolledUp = commonPrefix;
    yield { commonPrefix };
  }

  private isRolledUp(text: string): boolean {
    return this.rolledUp !== undefined && text.startsWith(this.rolledUp);
  }

  private commonPrefixOf(text: string): string | undefined {
    const { prefix, delimiter } = this.query;
    if (delimiter === "" || !text.startsWith(prefix)) return undefined;
    const at = text.indexOf(delimiter, prefix.length);
    return at < 0 ? undefined : text.slice(0, at + delimiter.length);
  }
}

/**
 * The time that a folder must be unchanged before it is cached. Its time stamp is too coarse to show changes at shorter
 * intervals.
 */
const minUnchangedMs = 200;
const maxEntries = 500_000;

/**
 * A cache of the sorted entries of folders. Without it, paging through a flat folder of n keys would read it n/1000
 * times. The folder's modification time shows when an entry is out of date.
 */
export class FolderCache {
  private readonly folders = new Map<string, { readonly modified: bigint; readonly entries: readonly Entry[] }>();
  private size = 0;

  entries(directory: string): readonly Entry[] {
    const modified = fs.statSync(directory, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
    if (modified === undefined) return [];
    const cached = this.folders.get(directory);
    if (cached?.modified === modified) return cached.entries;
    if (cached) this.forget(directory);
    const entries = readFolder(directory);
    if (entries.length > 1000 && Date.now() - Number(modified / 1_000_000n) > minUnchangedMs) {
      this.folders.set(directory, { modified, entries });
      this.size += entries.length;
      for (const oldest of this.folders.keys()) {
        if (this.size <= maxEntries) break;
        this.forget(oldest);
      }
    }
    return entries;
  }

  private forget(directory: string): void {
    this.size -= this.folders.get(directory)?.entries.length ?? 0;
    this.folders.delete(directory);
  }
}

function readFolder(directory: string): readonly Entry[] {
  let names: readonly string[];
  try {
    names = fs.readdirSync(directory);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
  return names
    .map(parseEntry)
    .filter((entry) => entry !== undefined)
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
}
