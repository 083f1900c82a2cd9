import path from "node:path";
import { JsonDatabase } from "../storage/json-database";
import type { BinaryKey } from "./keys";
import type { ObjectRecord } from "./record";

/** The newest write of an object, as far as it is known apart from the object's file. */
interface Entry {
  readonly writeId: string;
  readonly generation: number;
  /** A removal has begun: the file may be there or not. */
  readonly removing?: true;
}

const separator = "\u0000";
/** Sorts after every row of a bucket. */
const afterSeparator = "\u0001";
/** Before every bucket's name. */
const documentPrefix = "\u0002";

/**
 * Remembers which objects were written, so that a lost file is not taken for an object that never was, and an older version of a file not for
 * the newest.
 *
 * An entry of a write follows its file, and the answer does not wait for it: a killed process leaves an entry that is behind its file, which
 * is accepted. A removal is noted before the file goes, durably: an entry without a file is damage.
 */
export class WrittenIndex {
  readonly #rows: JsonDatabase<unknown>;
  /** Entries that are being written: readers see them at once. */
  readonly #pending = new Map<string, Entry | undefined>();

  private constructor(rows: JsonDatabase<unknown>) {
    this.#rows = rows;
  }

  /** @throws DamagedStoreError */
  static async open(dataDirectory: string, seals: string | undefined): Promise<WrittenIndex> {
    const rows = new JsonDatabase({ directory: path.join(dataDirectory, "index"), seals, store: "s3-index" });
    await rows.open();
    return new WrittenIndex(rows);
  }

  find(bucket: string, key: BinaryKey): Entry | undefined {
    const row = rowOf(bucket, key);
    return this.#pending.has(row) ? this.#pending.get(row) : (this.#rows.get(row) as Entry | undefined);
  }

  /** Notes a write whose file is durable. */
  note(bucket: string, key: BinaryKey, { writeId, generation = 0 }: ObjectRecord): void {
    const known = this.find(bucket, key);
    if (known && !known.removing && known.generation > generation) return; // a later write was faster
    void this.#write(rowOf(bucket, key), { writeId, generation }).catch(() => {}); // an entry behind its file does no harm
  }

  /** Notes that an object is about to be removed. Durable on return. */
  async beginRemoval(bucket: string, key: BinaryKey, writeId: string): Promise<void> {
    await this.#write(rowOf(bucket, key), { writeId, generation: 0, removing: true });
  }

  /** Forgets an object whose file is gone. */
  endRemoval(bucket: string, key: BinaryKey): void {
    void this.#write(rowOf(bucket, key), undefined).catch(() => {}); // the beginning of the removal stays
  }

  /** Keys with a prefix of objects that should be there: after one key, up to another. */
  async keys(bucket: string, prefix: string, after: string, upTo: string | undefined): Promise<readonly BinaryKey[]> {
    const first = bucket + separator;
    const keys: BinaryKey[] = [];
    const gte = first + (after > prefix ? after : prefix);
    for await (const [row, entry] of this.#rows.iterator({ gte, lt: bucket + afterSeparator })) {
      const key = row.slice(first.length) as BinaryKey;
      if (!key.startsWith(prefix) || (upTo !== undefined && key > upTo)) break;
      if (key > after && !(entry as Entry).removing) keys.push(key);
    }
    return keys;
  }

  /** Forgets a bucket, and its documents. */
  async clear(bucket: string): Promise<void> {
    for (const first of [bucket, documentPrefix + bucket]) {
      await this.#rows.clear({ gte: first + separator, lt: first + afterSeparator });
    }
  }

  /** A small document about a bucket or an object. */
  document<T>(bucket: string, name: string): T | undefined {
    return this.#rows.get(documentRow(bucket, name)) as T | undefined;
  }

  /** Durable on return. */
  async putDocument(bucket: string, name: string, document: object | undefined): Promise<void> {
    const row = documentRow(bucket, name);
    await (document ? this.#rows.put(row, document) : this.#rows.del(row));
  }

  async close(): Promise<void> {
    await this.#rows.close();
  }

  async #write(row: string, entry: Entry | undefined): Promise<void> {
    this.#pending.set(row, entry);
    try {
      await (entry ? this.#rows.put(row, entry) : this.#rows.del(row));
    } finally {
      if (this.#pending.get(row) === entry) this.#pending.delete(row);
    }
  }
}

const documentRow = (bucket: string, name: string): string => documentPrefix + bucket + separator + name;
const rowOf = (bucket: string, key: BinaryKey): string => bucket + separator + key;
