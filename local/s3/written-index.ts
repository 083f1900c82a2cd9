import path from "node:path";
import { JsonDatabase } from "../storage/json-database";
import type { BinaryKey } from "./keys";
import type { ObjectRecord } from "./record";

/** The newest known write of an object, recorded outside the object's file. */
interface Entry {
  readonly writeId: string;
  readonly generation: number;
  /** A removal has begun: the file may or may not exist. */
  readonly removing?: true;
}

const separator = "\u0000";
/** Sorts after every row of a bucket. */
const afterSeparator = "\u0001";
/** The prefix of documents. It sorts before every bucket's name. */
const documentPrefix = "\u0002";

/**
 * An index of the written objects. It shows that a file is lost, or that a file is an older version.
 *
 * The entry of a write follows its file, and the answer does not wait for it. A killed process may therefore leave an
 * entry that is older than its file, which is accepted. A removal is recorded durably before the file is deleted, so an
 * entry without a file is damage.
 */
export class WrittenIndex {
  private readonly rows: JsonDatabase<unknown>;
  /** The entries that are being written. Readers see them at once. */
  private readonly pending = new Map<string, Entry | undefined>();

  private constructor(rows: JsonDatabase<unknown>) {
    this.rows = rows;
  }

  /**
   * Opens the index.
   * @throws DamagedStoreError
   */
  static async open(dataDirectory: string, seals: string | undefined): Promise<WrittenIndex> {
    const rows = new JsonDatabase({ directory: path.join(dataDirectory, "index"), seals, store: "s3-index" });
    await rows.open();
    return new WrittenIndex(rows);
  }

  /** Resolves when the index has been opened again after a failed write. Undefined if it may be read now. */
  readable(): Promise<void> | undefined {
    return this.rows.readable();
  }

  find(bucket: string, key: BinaryKey): Entry | undefined {
    const row = rowOf(bucket, key);
    return this.pending.has(row) ? this.pending.get(row) : (this.rows.get(row) as Entry | undefined);
  }

  /** Records a write whose file is durable. */
  note(bucket: string, key: BinaryKey, { writeId, generation = 0 }: ObjectRecord): void {
    const known = this.find(bucket, key);
    if (known && !known.removing && known.generation > generation) return; // A later write was faster.
    // An entry that is older than its file does no harm.
    void this.write(rowOf(bucket, key), { writeId, generation }).catch(() => {});
  }

  /** Records that an object is about to be removed. The record is durable when it returns. */
  async beginRemoval(bucket: string, key: BinaryKey, writeId: string): Promise<void> {
    await this.write(rowOf(bucket, key), { writeId, generation: 0, removing: true });
  }

  /** Deletes the entry of an object whose file is removed. */
  endRemoval(bucket: string, key: BinaryKey): void {
    void this.write(rowOf(bucket, key), undefined).catch(() => {}); // The record of the removal stays.
  }

  /** Returns the keys with a prefix that should exist, after one key and up to another. */
  async keys(bucket: string, prefix: string, after: string, upTo: string | undefined): Promise<readonly BinaryKey[]> {
    const first = bucket + separator;
    const keys: BinaryKey[] = [];
    const gte = first + (after > prefix ? after : prefix);
    for await (const [row, entry] of this.rows.iterator({ gte, lt: bucket + afterSeparator })) {
      const key = row.slice(first.length) as BinaryKey;
      if (!key.startsWith(prefix) || (upTo !== undefined && key > upTo)) break;
      if (key > after && !(entry as Entry).removing) keys.push(key);
    }
    return keys;
  }

  /** Deletes the entries and documents of a bucket. */
  async clear(bucket: string): Promise<void> {
    for (const first of [bucket, documentPrefix + bucket]) {
      await this.rows.clear({ gte: first + separator, lt: first + afterSeparator });
    }
  }

  /** Returns a small document about a bucket or an object. */
  document<T>(bucket: string, name: string): T | undefined {
    return this.rows.get(documentRow(bucket, name)) as T | undefined;
  }

  /** Writes a document. It is durable when it returns. */
  async putDocument(bucket: string, name: string, document: object | undefined): Promise<void> {
    const row = documentRow(bucket, name);
    await (document ? this.rows.put(row, document) : this.rows.del(row));
  }

  async close(): Promise<void> {
    await this.rows.close();
  }

  private async write(row: string, entry: Entry | undefined): Promise<void> {
    this.pending.set(row, entry);
    try {
      await (entry ? this.rows.put(row, entry) : this.rows.del(row));
    } finally {
      if (this.pending.get(row) === entry) this.pending.delete(row);
    }
  }
}

const documentRow = (bucket: string, name: string): string => documentPrefix + bucket + separator + name;
const rowOf = (bucket: string, key: BinaryKey): string => bucket + separator + key;
