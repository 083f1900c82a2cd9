import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ClassicLevel } from "classic-level";
import { makeDirectory, syncDirectory } from "../../adapters/files/directory";
import { DamagedRecordError } from "./damage";
import { openSeal, type Seal, type StoreLocation } from "./seal";
import { ValueSeal } from "./sealed-value";
import type { SlotFile } from "./slot-file";
import { requireSpace } from "./space";

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
type Snapshot = ReturnType<ClassicLevel["snapshot"]>;

interface Group<K> {
  readonly writes: Write<K>[];
  readonly written: Promise<void>;
  readonly settle: (error?: unknown) => void;
}

const readAheadBytes = 512 * 1024;
const chunkRows = 1_000;
const migrationChunk = 1_000;
/** The time between two attempts to open a database that could not be opened again after a failed write. */
const reopenMs = 1_000;
/** The time that opening again waits for readers. The data that a reader has not read by then are an error for it. */
const maxReaderMs = 2_000;
const readerPollMs = 2;
/** The resolution of the file system's clock. Two changes within it may have the same time stamp. */
const clockStepMs = 50;

/**
 * A LevelDB database that detects damage. Opening it reads every file and compares the whole with a seal outside of it.
 * Reading checks the checksum of each value.
 *
 * A resolved write is on disk and survives a power loss. All writes that arrive during a write form the next one (group
 * commit), in order and atomically.
 *
 * A write that fails (the disk is full) is not stored. LevelDB writes nothing more after such a failure, so the database
 * is opened again, and the write repeated, as soon as there is space. Until then the stored values can be read.
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
  /** Whether a write failed, so that LevelDB must be opened again before the next one. */
  private failed = false;
  /** Resolves when the database has been opened again. */
  private reopening: Promise<void> | undefined;
  private readers = 0;
  private closed = false;

  constructor(
    private readonly options: DatabaseOptions,
    private readonly keyEncoding: K extends Buffer ? "buffer" : "utf8",
  ) {}

  /**
   * Opens the database.
   * @throws DamagedStoreError
   */
  async open(): Promise<void> {
    try {
      await this.openLevel();
      if (this.sealed?.state !== "ready") await this.migrate();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Verifies the files, and opens them. @param end drops the log's records after this sequence number */
  private async openLevel(end?: number): Promise<void> {
    const { directory, cacheBytes, writeBufferBytes } = this.options;
    const { file, lastSequence } = openSeal(this.options, end);
    makeDirectory(directory);
    this.seal = file;
    this.sealed = file.content;
    this.values = new ValueSeal(file.content.database);
    this.sequence = lastSequence;
    // The constructor opens the database, so it is called only after the files were verified.
    const level = new ClassicLevel<K, string>(directory, {
      keyEncoding: this.keyEncoding,
      valueEncoding: "utf8",
      ...(cacheBytes && { cacheSize: cacheBytes }),
      ...(writeBufferBytes && { writeBufferSize: writeBufferBytes }),
    });
    try {
      await level.open();
    } catch (error) {
      await level.close();
      throw error;
    }
    this.opened = level;
  }

  private get level(): ClassicLevel<K, string> {
    if (this.opened) return this.opened;
    throw new Error(`The store ${this.options.store} ${this.failed ? "is being opened again" : "is not open"}`);
  }

  /** Resolves when the database has been opened again after a failed write. Undefined if it may be read now. */
  readable(): Promise<void> | undefined {
    return this.reopening?.catch(() => undefined);
  }

  get(key: K, snapshot?: Snapshot): string | undefined {
    const stored = snapshot ? this.level.getSync<K, string>(key, { snapshot }) : this.level.getSync(key);
    return stored === undefined ? undefined : this.unseal(key, stored);
  }

  /** Returns the values of several keys from one snapshot. */
  getTogether(keys: readonly K[]): (string | undefined)[] {
    const snapshot = this.level.snapshot();
    try {
      return keys.map((key) => this.get(key, snapshot));
    } finally {
      void snapshot.close();
    }
  }

  /**
   * Visits values in the order of their keys until `visit` returns false. The values and the results of `get` come from
   * a snapshot at the time of the call.
   */
  async scan(range: Range<K>, visit: (value: string, get: (key: K) => string | undefined) => boolean): Promise<void> {
    await this.readable();
    const snapshot = this.level.snapshot();
    const get = (key: K) => this.get(key, snapshot);
    try {
      for await (const chunk of this.chunks(range, snapshot)) {
        for (const [, value] of chunk) if (!visit(value, get)) return;
      }
    } finally {
      await snapshot.close();
    }
  }

  /** Yields entries in the order of their keys, from the time of the call. */
  async *chunks(range: Range<K>, snapshot?: Snapshot): AsyncGenerator<readonly (readonly [K, string])[]> {
    await this.readable();
    const entries = this.level.iterator({
      ...range,
      highWaterMarkBytes: readAheadBytes,
      ...(snapshot && { snapshot }),
    });
    this.readers++;
    try {
      for (;;) {
        const chunk = await entries.nextv(chunkRows);
        if (chunk.length === 0) return;
        yield chunk.map(([key, stored]) => [key, this.unseal(key, stored)] as const);
      }
    } finally {
      await entries.close();
      this.readers--;
    }
  }

  async entries(range: Range<K>): Promise<(readonly [K, string])[]> {
    const found: (readonly [K, string])[] = [];
    for await (const chunk of this.chunks(range)) found.push(...chunk);
    return found;
  }

  async keys(range: Range<K>): Promise<K[]> {
    await this.readable();
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
    this.closed = true;
    await this.reopening?.catch(() => undefined);
    await this.closeLevel();
  }

  private async closeLevel(): Promise<void> {
    const { opened, seal } = this;
    this.opened = undefined;
    this.seal = undefined;
    await opened?.close();
    seal?.close();
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
        failure = { error };
      }
      this.writing = undefined;
      group.settle(failure?.error);
    }
  }

  /** Writes a group. After a failure it opens the database again, if the disk has space, and repeats the write. */
  private async commit(writes: readonly Write<K>[]): Promise<void> {
    try {
      if (!this.failed) return await this.append(writes);
    } catch {
      this.failed = true;
    }
    try {
      requireSpace(
        this.options.directory,
        writes.reduce((sum, { key, value = "" }) => sum + key.length + 2 * value.length, 0),
      );
      await this.openAgain();
      await this.append(writes);
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }

  private async append(writes: readonly Write<K>[]): Promise<void> {
    await this.level.batch(
      writes.map(({ key, value }) =>
        value === undefined ? { type: "del", key } : { type: "put", key, value: this.values.seal(key, value) },
      ),
      { sync: true },
    );
    this.syncNewFiles();
    this.acknowledge(this.sequence + writes.length);
  }

  /** Opens the database again after a failed write, without the records of that write. */
  private openAgain(): Promise<void> {
    const attempt = async (): Promise<void> => {
      const deadline = performance.now() + maxReaderMs;
      while (this.readers > 0 && performance.now() < deadline) await sleep(readerPollMs);
      await this.closeLevel();
      if (!this.closed) await this.openLevel(this.sequence);
      this.failed = false;
    };
    this.reopening ??= attempt()
      .catch(async (error: unknown) => {
        await this.closeLevel();
        // Without a write, the values must become readable again too.
        setTimeout(() => void (this.closed || this.openAgain().catch(() => undefined)), reopenMs).unref();
        throw error;
      })
      .finally(() => {
        this.reopening = undefined;
      });
    return this.reopening;
  }

  /** Syncs the directory of new files. LevelDB syncs the content of a new log, but not its directory entry. */
  private syncNewFiles(): void {
    const { mtimeMs } = statSync(this.options.directory);
    if (mtimeMs === this.directoryTime) return;
    syncDirectory(this.options.directory);
    this.directoryTime = Date.now() - mtimeMs > clockStepMs ? mtimeMs : 0;
  }

  private acknowledge(sequence: number): void {
    const sealed = { ...this.sealed!, acknowledged: sequence };
    this.seal?.write(sealed);
    this.sealed = sealed;
    this.sequence = sequence;
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
        if (old.length > 0) await this.append(old.map(([key, value]) => ({ key, value })));
      }
    } finally {
      await entries.close();
    }
    // LevelDB does not sync the directory of a new database. The seal must not be ahead of the files.
    syncDirectory(this.options.directory);
    this.sealed = { ...this.sealed!, state: "ready" };
    // Writes both slots, because the older one must not repeat the migration.
    this.acknowledge(this.sequence);
    this.acknowledge(this.sequence);
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
