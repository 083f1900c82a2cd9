import { DamagedStoreError } from "../../storage/damage";
import { Database, type Range as KeyRange } from "../../storage/database";
import { internalError } from "../errors";

/** What a plan reads and writes: the store as it will be once everything planned before has been written. */
export interface Draft {
  get(key: Buffer): string | undefined;
  put(key: Buffer, value: string): void;
  del(key: Buffer): void;
  /** Adds to a pair of counters, stored as two numbers with a space between; summed up over the plan, written once. */
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
 * LevelDB with one writer. A plan runs synchronously, alone: it reads, decides and lists its changes; so conditions are
 * atomic without locks. All plans that arrive while a batch is being written form the next one (group commit), and a plan's
 * changes are always in one batch: LevelDB writes a batch whole or not at all, which makes a transaction atomic.
 *
 * Nobody is answered before what the answer rests on is written, be it a success or a refusal. Writes are synced: they
 * survive the death of this process at any moment, and the machine's.
 */
export class Store {
  private forming: Group | undefined;
  private writing: Group | undefined;
  /** What the forming and the writing group will leave behind, by key. */
  private readonly pending = new Map<string, { readonly group: Group; readonly value: string | undefined }>();

  /** Called when a batch could not be written: whoever keeps in memory what plans changed reads it anew. */
  onFailure: () => void = () => undefined;

  private constructor(private readonly database: Database<Buffer>) {}

  /** @param seals where the store's seal lies; by default in the directory. */
  static async open(directory: string, seals?: string): Promise<Store> {
    const sizes = { cacheBytes: 32 * 1024 * 1024, writeBufferBytes: 16 * 1024 * 1024 };
    const database = new Database<Buffer>({ directory, seals, store: "dynamodb", ...sizes }, "buffer");
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

  /** What is written at this moment. */
  get(key: Buffer): string | undefined {
    return this.database.get(key);
  }

  /** Several keys as of one moment. */
  getTogether(keys: readonly Buffer[]): (string | undefined)[] {
    const snapshot = this.database.snapshot();
    try {
      return keys.map((key) => this.database.get(key, snapshot));
    } finally {
      void snapshot.close();
    }
  }

  /**
   * Values in the order of their keys, until `visit` returns false. All of it, and what `get` reads, is as of the moment of
   * the call.
   */
  async scan(range: Range, visit: (value: string, get: (key: Buffer) => string | undefined) => boolean): Promise<void> {
    const snapshot = this.database.snapshot();
    const get = (key: Buffer) => this.database.get(key, snapshot);
    try {
      await this.database.scan(range, (_key, value) => visit(value, get), snapshot);
    } finally {
      await snapshot.close();
    }
  }

  /** Up to `limit` keys of a range, as of the moment of the call. */
  async keys(range: Range): Promise<Buffer[]> {
    return this.database.keys(range);
  }

  async entries(range: Range): Promise<(readonly [Buffer, string])[]> {
    return this.database.entries(range);
  }

  /**
   * Runs a plan, and resolves with its result once its changes are written. When the plan throws, nothing of it is written
   * and the promise rejects with its error, once all that it may have seen is written.
   */
  async write<T>(plan: (draft: Draft) => T): Promise<T> {
    const changes = new Map<string, Operation>();
    const counters = new Map<string, Counter>();
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

  /** What was planned on top of a failed group never happened either. */
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
  // Those who wait see the error; a group that nobody waits for must not end the process.
  written.catch(() => undefined);
  return { operations: [], written, settle };
}
