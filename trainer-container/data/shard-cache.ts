import { randomUUID } from "node:crypto";
import { promises as fs } from "node:fs";
import path from "node:path";
import { CorruptObjectError } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import type { ContentReference } from "../../core/shapes";

export interface ShardCache {
  /** Returns the content from this host's disk or from the store. @throws CorruptObjectError */
  load(reference: ContentReference): Promise<Uint8Array>;
}

interface ShardCacheOptions {
  readonly store: ObjectStore;
  readonly directory: string;
  /** If the folder holds more, the least recently used files are removed. */
  readonly limitBytes: number;
  readonly freeBytes?: (directory: string) => Promise<number>;
}

const rangeBytes = 8 * 1024 * 1024;
const rangesInFlight = 4;

/**
 * Feature shards on the host's disk by digest, for several processes. A file appears by rename, is checked at each
 * read, and stays readable after eviction. A full or read-only disk costs speed only. With k containers each holds at
 * most 1 / (k + 1) of the disk.
 */
export function createShardCache({
  store,
  directory,
  limitBytes,
  freeBytes = freeBytesOf,
}: ShardCacheOptions): ShardCache {
  const fileOf = (sha256: string) => path.join(directory, sha256);

  return {
    async load(reference) {
      const file = fileOf(reference.sha256);
      const cached = await fs.readFile(file).catch(() => undefined);
      if (cached !== undefined && (await digestOf(cached)) === reference.sha256) {
        await fs.utimes(file, new Date(), new Date()).catch(() => undefined); // "used" for the eviction
        return cached;
      }
      const fetched = await fetchContent(store, reference);
      await keep(file, fetched).catch(() => undefined);
      return fetched;
    },
  };

  async function keep(file: string, content: Uint8Array): Promise<void> {
    if (content.byteLength > limitBytes) return;
    await fs.mkdir(directory, { recursive: true });
    if (!(await makeRoom(content.byteLength))) return;
    const temporary = `${file}.${randomUUID()}.part`;
    try {
      await fs.writeFile(temporary, content);
      await fs.rename(temporary, file);
    } catch (error) {
      await fs.rm(temporary, { force: true });
      throw error;
    }
  }

  /** Evicts the least recently used files. @returns whether there is room for `bytes` more */
  async function makeRoom(bytes: number): Promise<boolean> {
    const files: { readonly file: string; readonly bytes: number; readonly usedAt: number }[] = [];
    for (const name of await fs.readdir(directory)) {
      const stat = await fs.stat(fileOf(name)).catch(() => undefined); // another process may have evicted it
      if (stat?.isFile()) files.push({ file: fileOf(name), bytes: stat.size, usedAt: stat.mtimeMs });
    }
    let held = files.reduce((sum, file) => sum + file.bytes, 0);
    const limit = Math.min(limitBytes, (held + (await freeBytes(directory))) / 2);
    if (bytes > limit) return false;
    for (const oldest of files.sort((a, b) => a.usedAt - b.usedAt)) {
      if (held + bytes <= limit) break;
      await fs.rm(oldest.file, { force: true });
      held -= oldest.bytes;
    }
    return true;
  }
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await fs.statfs(directory);
  return bavail * bsize;
}

/** Fetches ranges in parallel into one buffer of the known size, so no second copy of a large shard exists. */
async function fetchContent(store: ObjectStore, { sha256, bytes }: ContentReference): Promise<Uint8Array> {
  const key = objectKeys.content(sha256);
  const content = new Uint8Array(bytes);
  const starts = Array.from({ length: Math.ceil(bytes / rangeBytes) }, (_, index) => index * rangeBytes);
  const fetchRanges = async () => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      const range = await store.getRange(key, start, Math.min(rangeBytes, bytes - start));
      content.set(range, start);
    }
  };
  await Promise.all(Array.from({ length: rangesInFlight }, fetchRanges));
  const actual = await digestOf(content);
  if (actual !== sha256) throw new CorruptObjectError(key, `SHA-256 ${sha256} (${bytes} bytes)`, `SHA-256 ${actual}`);
  return content;
}

/** Digests in Node's thread pool: a shard takes a tenth of a second, which would delay a step. */
async function digestOf(content: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", content as Uint8Array<ArrayBuffer>);
  return Buffer.from(digest).toString("hex");
}
