import { DamagedStoreError } from "../../storage/damage";
import { Database, type Range as KeyRange } from "../../storage/database";
import { internalError } from "../errors";

export interface Draft {
  get(key: Buffer): string | undefined;
  put(key: Buffer, value: string): void;
  del(key: Buffer): void;
}

export type Range = KeyRange<Buffer>;

interface Operation {
  readonly key: Buffer;
  readonly name: string;
  readonly value: string | undefined;
}

/**
 * LevelDB with one writer. A plan runs alone and synchronously: it reads, decides and lists its changes. Conditions are
 * therefore atomic without locks. A plan's changes are always in one group of the database, which LevelDB writes
 * completely or not at all, so a transaction is atomic.
 *
 * A success or a refusal is answered only after the data that it depends on are written. Writes are synced, so they
 * survive a crash of the process or of the machine at any time.
 */
export class Store {
  private readonly pending = new Map<string, { readonly written: Promise<void>; readonly value: string | undefined }>();

  /** Called when a batch could not be written. A caller that caches what plans changed must reload it. */
  onFailure: () => void = () => undefined;

  private constructor(private readonly database: Database<Buffer>) {
    database.onFailure = (cause) => {
      // All plans that are based on the failed writes fail too.
      this.pending.clear();
      process.stderr.write(
        `${JSON.stringify({ level: "error", message: "DynamoDB could not write", error: String(cause) })}\n`,
      );
      this.onFailure();
    };
  }

  static async open(directory: string): Promise<Store> {
    const sizes = { cacheBytes: 8 * 1024 * 1024, writeBufferBytes: 8 * 1024 * 1024 };
    const database = new Database<Buffer>({ directory, store: "dynamodb", ...sizes }, "buffer");
    try {
      await database.open();
    } catch (cause) {
      if (cause instanceof DamagedStoreError) throw cause;
      const detail = String((cause as Error).cause ?? cause);
      const why = /lock/i.test(detail) ? "another process has it open. Stop the other process" : detail;
      throw new Error(`The DynamoDB data in ${directory} cannot be opened, because ${why}.`, { cause });
    }
    return new Store(database);
  }

  /** Resolves when the store has been opened again after a failed write. Undefined if it may be read now. */
  readable(): Promise<void> | undefined {
    return this.database.readable();
  }

  get(key: Buffer): string | undefined {
    return this.database.get(key);
  }

  /**
   * Visits values in the order of their keys until `visit` returns false. The values and the results of `get` come from
   * a snapshot at the time of the call.
   */
  scan(range: Range, visit: (value: string, get: (key: Buffer) => string | undefined) => boolean): Promise<void> {
    return this.database.scan(range, visit);
  }

  /** Returns up to `limit` keys of a range at the time of the call. */
  async keys(range: Range): Promise<Buffer[]> {
    return this.database.keys(range);
  }

  async entries(range: Range): Promise<(readonly [Buffer, string])[]> {
    return this.database.entries(range);
  }

  /**
   * Runs a plan and resolves with its result once its changes are written. If the plan throws, nothing of it is
   * written, and the promise rejects once all data that the plan may have seen are written.
   */
  async write<T>(plan: (draft: Draft) => T): Promise<T> {
    const changes = new Map<string, Operation>();
    const opening = this.database.readable();
    if (opening) await opening;
    let result: T;
    try {
      result = plan(this.draft(changes));
    } catch (error) {
      await this.commit([]);
      throw error;
    }
    await this.commit([...changes.values()]);
    return result;
  }

  async close(): Promise<void> {
    await this.database.close();
  }

  private draft(changes: Map<string, Operation>): Draft {
    const change = (key: Buffer, value: string | undefined) => {
      const name = key.toString("latin1");
      changes.set(name, { key, name, value });
    };
    return {
      get: (key) => {
        const name = key.toString("latin1");
        const change = changes.get(name) ?? this.pending.get(name);
        return change ? change.value : this.database.get(key);
      },
      put: change,
      del: (key) => change(key, undefined),
    };
  }

  private async commit(operations: readonly Operation[]): Promise<void> {
    const written = this.database.write(operations);
    for (const { name, value } of operations) this.pending.set(name, { written, value });
    try {
      await written;
    } catch (cause) {
      throw Object.assign(internalError(cause), { cause });
    }
    for (const { name } of operations) if (this.pending.get(name)?.written === written) this.pending.delete(name);
  }
}
