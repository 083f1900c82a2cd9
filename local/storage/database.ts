import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ClassicLevel } from "classic-level";
import { DamagedRecordError, DamagedStoreError } from "./damage";
import { makeDirectory, syncDirectory } from "./directory";
import { cutLogs, cutZeros, discardUnfinished, endOfLogs, type LogEnd, logBytes } from "./level-files";
import { requireSpace } from "./space";
import { ValueChecksum } from "./value-checksum";

export interface DatabaseOptions {
  readonly directory: string;
  /** The name of the store, e.g. `dynamodb`. It is part of each value's checksum. */
  readonly store: string;
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

export interface Write<K> {
  readonly key: K;
  /** Undefined deletes the key. */
  readonly value: string | undefined;
}

type Snapshot = ReturnType<ClassicLevel["snapshot"]>;

interface Group<K> {
  readonly writes: Write<K>[];
  readonly written: Promise<void>;
  readonly settle: (error?: unknown) => void;
}

const readAheadBytes = 512 * 1024;
const chunkRows = 1_000;
/** The time between two attempts to open a database that could not be opened again after a failed write. */
const reopenMs = 1_000;
/** The time that opening again waits for readers. The data that a reader has not read by then are an error for it. */
const maxReaderMs = 2_000;
const readerPollMs = 2;
const clockStepMs = 50;

/**
 * A LevelDB database whose values have checksums, which every read verifies.
 *
 * A resolved write is on disk and survives a power loss. All writes that arrive during a write form the next one (group
 * commit), in order and atomically. They fail with it, because they may depend on it.
 *
 * A write that fails (the disk is full) is not stored. LevelDB writes nothing more after such a failure, so the database
 * is opened again, and the write repeated, as soon as there is space. Until then the stored values can be read.
 */
export class Database<K extends Buffer | string> {
  private opened: ClassicLevel<K, string> | undefined;
  private readonly values: ValueChecksum;
  private log: LogEnd = { number: 0, bytes: 0 };
  private directoryTime = 0;
  onFailure: (cause: unknown) => void = () => undefined;
  private forming: Group<K> | undefined;
  private writing: Group<K> | undefined;
  private failed = false;
  private reopening: Promise<void> | undefined;
  private readers = 0;
  private closed = false;

  constructor(
    private readonly options: DatabaseOptions,
    private readonly keyEncoding: K extends Buffer ? "buffer" : "utf8",
  ) {
    this.values = new ValueChecksum(options.store);
  }

  /** @throws DamagedStoreError */
  async open(): Promise<void> {
    const { directory, store } = this.options;
    makeDirectory(directory);
    const lost = discardUnfinished(directory);
    if (lost !== undefined) throw new DamagedStoreError(store, directory, lost);
    try {
      this.opened = await this.openLevel();
    } catch (error) {
      const { cause } = error as Error;
      if (!isCorruption(cause)) throw error;
      if (!cutZeros(directory)) throw new DamagedStoreError(store, directory, (cause as Error).message);
      this.opened = await this.openLevel();
    }
    this.directoryTime = 0;
    this.noteFiles();
  }

  private async openLevel(): Promise<ClassicLevel<K, string>> {
    const { directory, cacheBytes, writeBufferBytes } = this.options;
    const level = new ClassicLevel<K, string>(directory, {
      keyEncoding: this.keyEncoding,
      valueEncoding: "utf8",
      ...(cacheBytes && { cacheSize: cacheBytes }),
      ...(writeBufferBytes && { writeBufferSize: writeBufferBytes }),
    });
    try {
      await level.open();
      return level;
    } catch (error) {
      await level.close();
      throw error;
    }
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
    const stored = this.read(key, snapshot);
    return stored === undefined ? undefined : this.verified(key, stored);
  }

  private read(key: K, snapshot?: Snapshot): string | undefined {
    try {
      return snapshot ? this.level.getSync<K, string>(key, { snapshot }) : this.level.getSync(key);
    } catch (error) {
      throw isCorruption(error) ? this.damaged(key) : error;
    }
  }

  /**
   * Visits values in the order of their keys until `visit` returns false. The values and the results of `get` come from
   * a snapshot at the time of the call.
   */
  async scan(range: Range<K>, visit: (value: string, get: (key: K) => string | undefined) => boolean): Promise<void> {
    // Without a wait, the snapshot is from the time of the call.
    const opening = this.readable();
    if (opening) await opening;
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
    for await (const chunk of this.storedChunks(range, snapshot)) {
      yield chunk.map(([key, stored]) => [key, this.verified(key, stored)] as const);
    }
  }

  async damagedKeys(): Promise<readonly K[]> {
    const keys: K[] = [];
    for await (const chunk of this.storedChunks({})) {
      for (const [key, stored] of chunk) if (this.values.verify(key, stored) === undefined) keys.push(key);
    }
    return keys;
  }

  private async *storedChunks(range: Range<K>, snapshot?: Snapshot): AsyncGenerator<readonly (readonly [K, string])[]> {
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
        yield chunk;
      }
    } catch (error) {
      if (!isCorruption(error)) throw error;
      throw new DamagedStoreError(this.options.store, this.options.directory, (error as Error).message);
    } finally {
      await entries.close();
      this.readers--;
    }
  }

  async entries(range: Range<K>): Promise<(readonly [K, string])[]> {
    const entries: (readonly [K, string])[] = [];
    for await (const chunk of this.chunks(range)) entries.push(...chunk);
    return entries;
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

  async close(): Promise<void> {
    await (this.forming ?? this.writing)?.written.catch(() => undefined);
    this.closed = true;
    await this.reopening?.catch(() => undefined);
    await this.closeLevel();
  }

  private async closeLevel(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    await opened?.close();
    if (opened && this.failed) cutLogs(this.options.directory, this.log);
  }

  private async pump(): Promise<void> {
    for (let group = this.takeForming(); group; group = this.takeForming()) {
      this.writing = group;
      try {
        await this.commit(group.writes);
        this.writing = undefined;
        group.settle();
      } catch (error) {
        const later = this.takeForming();
        this.writing = undefined;
        this.onFailure(error);
        group.settle(error);
        later?.settle(error);
      }
    }
  }

  private takeForming(): Group<K> | undefined {
    const { forming } = this;
    this.forming = undefined;
    return forming;
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
        value === undefined ? { type: "del", key } : { type: "put", key, value: this.values.add(key, value) },
      ),
      { sync: true },
    );
    this.noteFiles();
  }

  /** Opens the database again after a failed write, without the records of that write. */
  private openAgain(): Promise<void> {
    const attempt = async (): Promise<void> => {
      const deadline = performance.now() + maxReaderMs;
      while (this.readers > 0 && performance.now() < deadline) await sleep(readerPollMs);
      await this.closeLevel();
      if (!this.closed) await this.open();
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

  /**
   * Notes the end of the log, and syncs the directory if it has new files. LevelDB syncs the content of a new log, but not
   * its directory entry.
   */
  private noteFiles(): void {
    const { directory } = this.options;
    const { mtimeMs } = statSync(directory);
    if (mtimeMs === this.directoryTime) {
      this.log = { ...this.log, bytes: logBytes(directory, this.log.number) };
      return;
    }
    syncDirectory(directory);
    this.directoryTime = Date.now() - mtimeMs > clockStepMs ? mtimeMs : 0;
    this.log = endOfLogs(directory);
  }

  private verified(key: K, stored: string): string {
    const value = this.values.verify(key, stored);
    if (value === undefined) throw this.damaged(key);
    return value;
  }

  private damaged(key: K): DamagedRecordError {
    return new DamagedRecordError(this.options.store, this.options.directory, key);
  }
}

const isCorruption = (error: unknown): boolean =>
  (error as { readonly code?: unknown } | undefined)?.code === "LEVEL_CORRUPTION";

function newGroup<K>(): Group<K> {
  let settle: Group<K>["settle"] = () => undefined;
  const written = new Promise<void>((resolve, reject) => {
    settle = (error) => (error === undefined ? resolve() : reject(error));
  });
  // Callers that wait get the error. A group without callers must not end the process.
  written.catch(() => undefined);
  return { writes: [], written, settle };
}
