import { sha256 } from "../../../core/digest";
import { CorruptObjectError, ObjectNotFoundError } from "../../../core/object-documents";
import { objectKeys } from "../../../core/object-keys";
import type { ObjectStore } from "../../../core/ports";

export interface MemoryObjectStore extends ObjectStore {
  /** The objects themselves, for tests that damage or count them. */
  readonly objects: Map<string, Uint8Array>;
}

/** Creates an `ObjectStore` for tests. It passes the port's contract suite. */
export function createMemoryObjectStore(): MemoryObjectStore {
  const objects = new Map<string, Uint8Array>();
  const bytesOf = (body: Uint8Array | string) => Uint8Array.from(typeof body === "string" ? Buffer.from(body) : body);
  const store: MemoryObjectStore = {
    objects,
    async get(key) {
      const found = objects.get(key);
      if (found === undefined) throw new ObjectNotFoundError(key);
      return found.slice();
    },
    async find(key, maxBytes = Number.POSITIVE_INFINITY) {
      const found = objects.get(key);
      if (found !== undefined && found.length > maxBytes)
        throw new CorruptObjectError(key, `at most ${maxBytes} bytes`, `${found.length} bytes`);
      return found?.slice();
    },
    async getRange(key, start, length) {
      return (await store.get(key)).slice(start, start + length);
    },
    async size(key) {
      return objects.get(key)?.length;
    },
    async put(key, body) {
      objects.set(key, bytesOf(body));
    },
    async putNew(key, body) {
      if (objects.has(key)) return false;
      objects.set(key, bytesOf(body));
      return true;
    },
    async putContent(body) {
      const bytes = bytesOf(body);
      const digest = sha256(bytes);
      await store.put(objectKeys.content(digest), bytes);
      return { sha256: digest, bytes: bytes.length };
    },
    async putContentStream(open, _contentType, place) {
      const read = async () => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of open()) chunks.push(chunk.slice());
        return Buffer.concat(chunks);
      };
      const first = await read();
      const reference = { sha256: sha256(first), bytes: first.length };
      const { key, stored } = (await place?.(reference)) ?? {
        key: objectKeys.content(reference.sha256),
        stored: await store.hasContent(reference),
      };
      if (stored) return reference;
      if (!first.equals(await read())) throw new Error("the body was not the same when it was read again");
      await store.put(key, first);
      return reference;
    },
    async hasContent(reference) {
      const found = objects.get(reference.key ?? objectKeys.content(reference.sha256));
      return found !== undefined && sha256(found) === reference.sha256;
    },
    async claimContent(digest) {
      return objects.get(objectKeys.content(digest))?.length;
    },
    async getContent(digest, key = objectKeys.content(digest)) {
      const body = await store.get(key);
      const actual = sha256(body);
      if (actual !== digest) throw new CorruptObjectError(key, `SHA-256 ${digest}`, actual);
      return body;
    },
    async copyContent(content, from) {
      if (await store.hasContent(content)) return true;
      if (!(await store.hasContent({ ...content, key: from }))) return false;
      objects.set(objectKeys.content(content.sha256), objects.get(from)!.slice());
      return true;
    },
    async list(prefix) {
      return [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    },
    async delete(key) {
      objects.delete(key);
    },
    async erase(key) {
      objects.delete(key);
    },
  };
  return store;
}
