import type { EmittedEvent, EventSink } from "../service";
import { JsonDatabase } from "../storage/json-database";

/** The time until a failed write, or a refused event, is repeated. */
const retryMs = 1_000;
const outboxPrefix = "outbox!";

interface Write {
  readonly key: string;
  /** The value. Undefined deletes the key. */
  readonly value?: unknown;
  readonly event?: EmittedEvent;
}

/**
 * Batch's state on disk. Each row is written atomically with the event that announces it. An event leaves the outbox
 * only after the sink has accepted it, so every transition is published at least once, even if the process dies.
 * Concurrent writes are grouped, in order.
 */
export class Store {
  private readonly db: JsonDatabase;
  private pending: Write[] = [];
  private writing: Promise<void> | undefined;
  /** The events in the outbox that the sink has not accepted. */
  private unsent: [string, EmittedEvent][] = [];
  private retry: NodeJS.Timeout | undefined;
  private sequence = 0;

  constructor(
    directory: string,
    private readonly sink: EventSink | undefined,
  ) {
    this.db = new JsonDatabase({ directory, store: "batch" });
  }

  /** Loads all rows except the outbox, and sends the outbox's events again. */
  async open(): Promise<ReadonlyMap<string, unknown>> {
    await this.db.open();
    const rows = new Map<string, unknown>();
    const unsent: [string, EmittedEvent][] = [];
    for await (const [key, value] of this.db.iterator()) {
      if (key.startsWith(outboxPrefix)) unsent.push([key, value as EmittedEvent]);
      else rows.set(key, value);
    }
    // Sequence numbers continue after the old ones. If they started at 0, a new event could replace an old one.
    this.sequence = 1 + Number(unsent.at(-1)?.[0].slice(outboxPrefix.length) ?? -1);
    this.unsent.push(...unsent);
    await this.announce();
    return rows;
  }

  /** Resolves when the store has been opened again after a failed write. Undefined if it may be read now. */
  readable = (): Promise<void> | undefined => this.db.readable();

  /** Returns what is on disk. */
  get(key: string): unknown {
    return this.db.get(key);
  }

  put(key: string, value: unknown, event?: EmittedEvent): void {
    // Writes a copy, because the row may change before it is written.
    this.enqueue({ key, value: structuredClone(value), event });
  }

  delete(key: string): void {
    this.enqueue({ key });
  }

  /** Resolves when all previous writes are on disk. Rejects if a write fails. */
  async flush(): Promise<void> {
    while (this.pending.length > 0 || this.writing) {
      await (this.writing ?? this.start());
    }
  }

  async close(): Promise<void> {
    await this.flush().catch(() => undefined);
    clearTimeout(this.retry);
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
      const sent: [string, EmittedEvent][] = [];
      const operations = writes.flatMap(({ key, value, event }) => {
        const row = value === undefined ? ({ type: "del", key } as const) : ({ type: "put", key, value } as const);
        if (!event) return [row];
        const outbox = outboxPrefix + String(this.sequence++).padStart(15, "0");
        sent.push([outbox, event]);
        return [row, { type: "put", key: outbox, value: event } as const];
      });
      try {
        await this.db.batch(operations);
      } catch (error) {
        this.pending = [...writes, ...this.pending];
        throw error;
      }
      this.unsent.push(...sent);
      await this.announce();
    }
  }

  /** Sends the events of the outbox, in order. What the sink refuses, because the disk is full, is sent later. */
  private async announce(): Promise<void> {
    const sent: string[] = [];
    try {
      for (let next = this.unsent[0]; next; next = this.unsent[0]) {
        this.sink?.put(next[1]);
        sent.push(next[0]);
        this.unsent.shift();
      }
    } catch (error) {
      process.stderr.write(`batch: the event bus refused an event: ${error}\n`);
      this.drainLater();
    }
    // An event that stays in the outbox is sent again by the next start.
    if (sent.length > 0) await this.db.batch(sent.map((key) => ({ type: "del", key }))).catch(() => undefined);
  }

  private drainLater(): void {
    this.retry ??= setTimeout(() => {
      this.retry = undefined;
      if (this.pending.length === 0) void this.announce();
      else this.enqueue();
    }, retryMs).unref();
  }
}
