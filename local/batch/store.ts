import type { EmittedEvent, EventSink } from "../service";
import { JsonDatabase } from "../storage/json-database";
import { entryWrite, Outbox, type OutboxEntry } from "../storage/outbox";

const retryMs = 1_000;

interface Write {
  readonly key: string;
  readonly value?: unknown;
  readonly event?: EmittedEvent;
}

/**
 * Batch's state on disk. Each row is written atomically with the event that announces it. Rows are written in order, and
 * a write that failed is repeated.
 */
export class Store {
  private readonly db: JsonDatabase;
  private pending: Write[] = [];
  private writing: Promise<void> | undefined;
  private readonly outbox: Outbox;
  private retry: NodeJS.Timeout | undefined;

  constructor(directory: string, sink: EventSink | undefined) {
    this.db = new JsonDatabase({ directory, store: "batch" });
    this.outbox = new Outbox(this.db, sink, "outbox!");
  }

  /** Loads all rows except the outbox, and sends the outbox's events again. */
  async open(): Promise<ReadonlyMap<string, unknown>> {
    await this.db.open();
    const rows = new Map<string, unknown>();
    for await (const [key, value] of this.db.iterator()) if (!key.startsWith(this.outbox.prefix)) rows.set(key, value);
    await this.outbox.load();
    await this.outbox.send();
    return rows;
  }

  /** Resolves when the store has been opened again after a failed write. Undefined if it may be read now. */
  readable = (): Promise<void> | undefined => this.db.readable();

  get(key: string): unknown {
    return this.db.get(key);
  }

  put(key: string, value: unknown, event?: EmittedEvent): void {
    this.enqueue({ key, value: structuredClone(value), event });
  }

  delete(key: string): void {
    this.enqueue({ key });
  }

  async flush(): Promise<void> {
    while (this.pending.length > 0 || this.writing) {
      await (this.writing ?? this.start());
    }
  }

  async close(): Promise<void> {
    await this.flush().catch(() => undefined);
    clearTimeout(this.retry);
    this.outbox.close();
    await this.db.close();
  }

  private enqueue(...writes: readonly Write[]): void {
    this.pending.push(...writes);
    // The write also starts if nobody awaits it. A failure is reported by the next flush.
    if (!this.writing) this.start().catch(() => undefined);
  }

  private start(): Promise<void> {
    const run = this.drain().then(
      () => {
        this.writing = undefined;
        // Writes the rows that were added after the last check.
        if (this.pending.length > 0) this.enqueue();
      },
      (error) => {
        this.writing = undefined;
        this.drainLater();
        throw error;
      },
    );
    this.writing = run;
    return run;
  }

  private async drain(): Promise<void> {
    await Promise.resolve();
    while (this.pending.length > 0) {
      const writes = this.pending;
      this.pending = [];
      const entries: OutboxEntry[] = [];
      const operations = writes.flatMap(({ key, value, event }) => {
        const row = value === undefined ? ({ type: "del", key } as const) : ({ type: "put", key, value } as const);
        if (!event) return [row];
        const entry = this.outbox.entry(event);
        entries.push(entry);
        return [row, entryWrite(entry)];
      });
      try {
        await this.db.batch(operations);
      } catch (error) {
        this.pending = [...writes, ...this.pending];
        throw error;
      }
      await this.outbox.send(entries);
    }
  }

  private drainLater(): void {
    this.retry ??= setTimeout(() => {
      this.retry = undefined;
      this.enqueue();
    }, retryMs).unref();
  }
}
