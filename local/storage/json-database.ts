import { Database, type DatabaseOptions, type Range } from "./database";

export type JsonWrite<V> =
  | { readonly type: "put"; readonly key: string; readonly value: V }
  | { readonly type: "del"; readonly key: string };

export class JsonDatabase<V = unknown> {
  private readonly rows: Database<string>;

  constructor(options: DatabaseOptions) {
    this.rows = new Database<string>(options, "utf8");
  }

  /**
   * Opens the database.
   * @throws DamagedStoreError
   */
  open = (): Promise<void> => this.rows.open();
  close = (): Promise<void> => this.rows.close();

  readable = (): Promise<void> | undefined => this.rows.readable();

  get(key: string): V | undefined {
    const text = this.rows.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as V);
  }

  put = (key: string, value: V): Promise<void> => this.batch([{ type: "put", key, value }]);
  del = (key: string): Promise<void> => this.batch([{ type: "del", key }]);

  /** Resolves when all of the writes are on disk. They are atomic and in the order of the calls. */
  batch(writes: readonly JsonWrite<V>[]): Promise<void> {
    return this.rows.write(
      writes.map((write) => ({
        key: write.key,
        value: write.type === "put" ? JSON.stringify(write.value) : undefined,
      })),
    );
  }

  keys = (range: Range<string> = {}): Promise<string[]> => this.rows.keys(range);

  async *iterator(range: Range<string> = {}): AsyncGenerator<[string, V]> {
    for await (const chunk of this.rows.chunks(range)) {
      for (const [key, text] of chunk) yield [key, JSON.parse(text) as V];
    }
  }
}

/** Changes an entry of a map at once, and takes the change back if it cannot be written. Undefined deletes the entry. */
export async function changeDurably<V>(
  map: Map<string, V>,
  key: string,
  value: V | undefined,
  write: () => Promise<void>,
): Promise<void> {
  const before = map.get(key);
  const set = (next: V | undefined): unknown => (next === undefined ? map.delete(key) : map.set(key, next));
  set(value);
  try {
    await write();
  } catch (error) {
    if (map.get(key) === value) set(before);
    throw error;
  }
}
