import { DamagedStoreError } from "../../storage/damage";
import { Database, type Range as KeyRange } from "../../storage/database";
import { internalError } from "../errors";

/** The view of the store for a plan. It includes everything that earlier plans will write. */
export interface Draft {
  get(key: Buffer): string | undefined;
  put(key: Buffer, value: string): void;
  del(key: Buffer): void;
  /**
   * Adds to a pair of counters, stored as two numbers separated by a space. The sum of a plan's changes is written
   * once.
   */
  add(key: Buffer, items: number, bytes: number): void;
}

export type Range = KeyRange<Buffer>;

interface Operation {
  readonly key: Buffer;
  readonly name: string;
  readonly value: string | undefined;
}

interface Counter {
  readonly key: Buffer;
  readonly items: number;
  readonly bytes: number;
}

interface Group {
  readonly operations: Operation[];
  readonly written: Promise<void>;
  readonly settle: (error?: Error) => void;
}

/**
 * LevelDB with one writer. A plan runs alone and synchronously: it reads, decides and lists its changes. Conditions are
 * therefore atomic without locks. All plans that arrive while a batch is being written form the next batch (group
 * commit). A plan's changes are always in one batch, which LevelDB writes completely or not at all, so a transaction is
 * atomic.
 *
 * A success or a refusal is answered only after the data that it depends on are written. Writes are synced, so they
 * survive a crash of the process or of the machine at any time.
 */
export class Store {
  private forming: Group | undefined;
  private writing: Group | undefined;
  /** The values that the forming and the writing group will write, by key. */
  private readonly pending = new Map<string, { readonly group: Group; readonly value: string | undefined }>();

  /** Called when a batch could not be written. A caller that caches what plans changed must reload it. */
  onFailure: () => void = () => undefined;

  private constructor(private readonly database: Database<Buffer>) {}

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

  /** Returns the value that is on disk now. */
  get(key: Buffer): string | undefined {
    return this.database.get(key);
  }

  /** Returns the values of several keys from one snapshot. */
  getTogether(keys: readonly Buffer[]): (string | undefined)[] {
    return this.database.getTogether(keys);
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
    const counters = new Map<string, Counter>();
    const opening = this.database.readable();
    if (opening) await opening;
    let result: T;
    try {
      const draft = this.draft(changes, counters);
      result = plan(draft);
      for (const { key, items, bytes } of counters.values()) {
        const before = readCounters(draft.get(key));
        draft.put(key, `${before.items + items} ${before.bytes + bytes}`);
      }
    } catch (error) {
      await (this.forming ?? this.writing)?.written;
      throw error;
    }
    await this.enqueue(changes);
    return result;
  }

  async close(): Promise<void> {
    await (this.forming ?? this.writing)?.written.catch(() => undefined);
    await this.database.close();
  }

  private draft(changes: Map<string, Operation>, counters: Map<string, Counter>): Draft {
    const change = (key: Buffer, value: string | undefined) => {
      const name = key.toString("latin1");
      changes.set(name, { key, name, value });
    };
    return {
      get: (key) => {
        const name = key.toString("latin1");
        const own = changes.get(name) ?? this.pending.get(name);
        return own ? own.value : this.database.get(key);
      },
      put: change,
      del: (key) => change(key, undefined),
      add: (key, items, bytes) => {
        const name = key.toString("latin1");
        const sum = counters.get(name);
        counters.set(name, { key, items: items + (sum?.items ?? 0), bytes: bytes + (sum?.bytes ?? 0) });
      },
    };
  }

  private enqueue(changes: Map<string, Operation>): Promise<void> {
    if (changes.size === 0) return (this.forming ?? this.writing)?.written ?? Promise.resolve();
    this.forming ??= newGroup();
    const group = this.forming;
    for (const operation of changes.values()) {
      group.operations.push(operation);
      this.pending.set(operation.name, { group, value: operation.value });
    }
    if (!this.writing) void this.pump();
    return group.written;
  }

  private async pump(): Promise<void> {
    while (this.forming) {
      const group = this.forming;
      this.writing = group;
      this.forming = undefined;
      try {
        await this.database.write(group.operations);
        for (const { name } of group.operations) {
          if (this.pending.get(name)?.group === group) this.pending.delete(name);
        }
        this.writing = undefined;
        group.settle();
      } catch (cause) {
        this.fail(group, cause);
      }
    }
  }

  /** Rejects a failed group and all plans that are based on it. */
  private fail(group: Group, cause: unknown): void {
    const later = this.forming;
    this.forming = undefined;
    this.writing = undefined;
    this.pending.clear();
    const error = Object.assign(internalError(cause), { cause });
    process.stderr.write(
      `${JSON.stringify({ level: "error", message: "DynamoDB could not write", error: String(cause) })}\n`,
    );
    this.onFailure();
    group.settle(error);
    later?.settle(error);
  }
}

export function readCounters(stored: string | undefined): { readonly items: number; readonly bytes: number } {
  const [items = 0, bytes = 0] = (stored ?? "0 0").split(" ").map(Number);
  return { items, bytes };
}

function newGroup(): Group {
  let settle: Group["settle"] = () => undefined;
  const written = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  // The waiting callers see the error. A group without callers must not end the process.
  written.catch(() => undefined);
  return { operations: [], written, settle };
}
