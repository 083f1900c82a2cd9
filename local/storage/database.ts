import { statSync } from "node:fs";
import { ClassicLevel } from "classic-level";
import { makeDirectory, syncDirectory } from "../../adapters/files/directory";
import { DamagedRecordError } from "./damage";
import { openSeal, type Seal, type StoreLocation } from "./seal";
import { ValueSeal } from "./sealed-value";
import type { SlotFile } from "./slot-file";

export interface DatabaseOptions extends StoreLocation {
  readonly cacheBytes?: number;
  readonly writeBufferBytes?: number;
}

export interface Range<K> {
  readonly gt?: K;
  readonly gte?: K;
  readonly lt?: K;
  readonly lte?: K;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** The value. Undefined deletes the key. */
export interface Write<K> {
  readonly key: K;
  readonly value: string | undefined;
}

/** A snapshot of the database. */
export type Snapshot = ReturnType<ClassicLevel["snapshot"]>;

interface Group<K> {
  readonly writes: Write<K>[];
  readonly written: Promise<void>;
  readonly settle: (error?: unknown) => void;
}

const readAheadBytes = 512 * 1024;
const chunkRows = 1_000;
const migrationChunk = 1_000;
/** The resolution of the file system's clock. Two changes within it may have the same time stamp. */
const clockStepMs = 50;

/**
 * A LevelDB database that detects damage. Opening it reads every file and compares the whole with a seal outside of it.
 * Reading checks the checksum of each value.
 *
 * A resolved write is on disk and survives a power loss. All writes that arrive during a write form the next one (group
 * commit), in order and atomically.
 */
export class Database<K extends Buffer | string> {
  private opened: ClassicLevel<K, string> | undefined;
  private seal: SlotFile<Seal> | undefined;
  private sealed: Seal | undefined;
  private values = new ValueSeal("");
  private sequence = 0;
  private directoryTime = 0;
  private forming: Group<K> | undefined;
  private writing: Group<K> | undefined;
  /** Whether a write failed and may have left an incomplete record at the end of the log. */
  private tornLog = false;

  constructor(
    private readonly options: DatabaseOptions,
    private readonly keyEncoding: K extends Buffer ? "buffer" : "utf8",
  ) {}

  /**
   * Opens the database.
   * @throws DamagedStoreError
   */
  async open(): Promise<void> {
    const { directory, cacheBytes, writeBufferBytes } = this.options;
    const { file, lastSequence } = openSeal(this.options);
    makeDirectory(directory);
    this.seal = file;
    this.sealed = file.content;
    this.values = new ValueSeal(file.content.database);
    this.sequence = lastSequence;
    try {
      // The constructor opens the database, so it is called only after the files were verified.
      this.opened = new ClassicLevel<K, string>(directory, {
        keyEncoding: this.keyEncoding,
        valueEncoding: "utf8",
        ...(cacheBytes && { cacheSize: cacheBytes }),
        ...(writeBufferBytes && { writeBufferSize: writeBufferBytes }),
      });
      await this.opened.open();
      if (file.content.state !== "ready") await this.migrate();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  private get level(): ClassicLevel<K, string> {
    if (!this.opened) throw new Error(`The store ${this.options.store} is not open`);
    return this.opened;
  }

  get(key: K, snapshot?: Snapshot): string | undefined {
    const stored = snapshot ? this.level.getSync<K, string>(key, { snapshot }) : this.level.getSync(key);
    return stored === undefined ? undefined : this.unseal(key, stored);
  }

  snapshot(): Snapshot {
    return this.level.snapshot();
  }

  /**
   * Visits entries in the order of their keys until `visit` returns false. The entries come from the snapshot, or from
   * the time of the call.
   */
  async scan(range: Range<K>, visit: (key: K, value: string) => boolean, snapshot?: Snapshot): Promise<void> {
    for await (const chunk of this.chunks(range, snapshot)) {
      for (const [key, value] of chunk) if (!visit(key, value)) return;
    }
  }

  /** Yields entries in the order of their keys, from the snapshot or from the time of the call. */
  async *chunks(range: Range<K>, snapshot?: Snapshot): AsyncGenerator<readonly (readonly [K, string])[]> {
    const entries = this.level.iterator({
      ...range,
      highWaterMarkBytes: readAheadBytes,
      ...(snapshot && { snapshot }),
    });
    try {
      for (;;) {
        const chunk = await entries.nextv(chunkRows);
        if (chunk.length === 0) return;
        yield chunk.map(([key, stored]) => [key, this.unseal(key, stored)] as const);
      }
    } finally {
      await entries.close();
    }
  }

  async entries(range: Range<K>): Promise<(readonly [K, string])[]> {
    const found: (readonly [K, string])[] = [];
    for await (const chunk of this.chunks(range)) found.push(...chunk);
    return found;
  }

  keys(range: Range<K>): Promise<K[]> {
    return this.level.keys({ ...range }).all();
  }

  /** Resolves when all of the writes are on disk. They are atomic. */
  write(writes: readonly Write<K>[]): Promise<void> {
    if (writes.length === 0) return (this.forming ?? this.writing)?.written ?? Promise.resolve();
    this.forming ??= newGroup();
    const { written } = this.forming;
    this.forming.writes.push(...writes);
    if (!this.writing) void this.pump();
    return written;
  }

  /** Waits for the current writes and closes the database. */
  async close(): Promise<void> {
    await (this.forming ?? this.writing)?.written.catch(() => undefined);
    await this.opened?.close();
    this.seal?.close();
    this.seal = undefined;
  }

  private async pump(): Promise<void> {
    while (this.forming) {
      const group = this.forming;
      this.writing = group;
      this.forming = undefined;
      let failure: { readonly error: unknown } | undefined;
      try {
        await this.commit(group.writes);
      } catch (error) {
        this.tornLog = true;
        failure = { error };
      }
      this.writing = undefined;
      group.settle(failure?.error);
    }
  }

  private async commit(writes: readonly Write<K>[]): Promise<void> {
    // Starts a new log, because LevelDB drops everything after an incomplete record.
    if (this.tornLog) await this.level.compactRange("\u0000" as K, "\u0000" as K, { keyEncoding: "utf8" });
    this.tornLog = false;
    await this.level.batch(
      writes.map(({ key, value }) =>
        value === undefined ? { type: "del", key } : { type: "put", key, value: this.values.seal(key, value) },
      ),
      { sync: true },
    );
    this.sequence += writes.length;
    this.syncNewFiles();
    this.acknowledge();
  }

  /** Syncs the directory of new files. LevelDB syncs the content of a new log, but not its directory entry. */
  private syncNewFiles(): void {
    const { mtimeMs } = statSync(this.options.directory);
    if (mtimeMs === this.directoryTime) return;
    syncDirectory(this.options.directory);
    this.directoryTime = Date.now() - mtimeMs > clockStepMs ? mtimeMs : 0;
  }

  private acknowledge(): void {
    this.sealed = { ...this.sealed!, acknowledged: this.sequence };
    this.seal?.write(this.sealed);
  }

  private unseal(key: K, stored: string): string {
    const value = this.values.open(key, stored);
    if (value === undefined) throw new DamagedRecordError(this.options.store, this.options.directory, key);
    return value;
  }

  /** Seals the values of a release without checksums. Idempotent: after a kill, the next process continues. */
  private async migrate(): Promise<void> {
    const entries = this.level.iterator();
    try {
      for (;;) {
        const chunk = await entries.nextv(migrationChunk);
        if (chunk.length === 0) break;
        const old = chunk.filter(([key, stored]) => this.values.open(key, stored) === undefined);
        if (old.length > 0) await this.commit(old.map(([key, value]) => ({ key, value })));
      }
    } finally {
      await entries.close();
    }
    // LevelDB does not sync the directory of a new database. The seal must not be ahead of the files.
    syncDirectory(this.options.directory);
    this.sealed = { ...this.sealed!, state: "ready" };
    // Writes both slots, because the older one must not repeat the migration.
    this.acknowledge();
    this.acknowledge();
    this.seal?.flush();
  }
}

function newGroup<K>(): Group<K> {
  let settle: Group<K>["settle"] = () => undefined;
  const written = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  // Callers that wait get the error. A group without callers must not end the process.
  written.catch(() => undefined);
  return { writes: [], written, settle };
}
