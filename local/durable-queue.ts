import { appendFileSync } from "node:fs";
import type { Clock } from "./clock";
import type { JsonDatabase } from "./storage/json-database";

export type Delivery =
  | { readonly outcome: "done" }
  | { readonly outcome: "retry"; readonly delayMs: number; readonly error: string }
  | { readonly outcome: "dead"; readonly error: string };

/** An item to deliver, with its history. `attempts` counts the attempts that ended in `retry`. */
export interface Queued<T> {
  readonly id: string;
  readonly item: T;
  readonly attempts: number;
  readonly addedAt: number;
  readonly dueAt: number;
}

export interface DurableQueueOptions<T> {
  readonly db: JsonDatabase;
  /** The prefix of this queue's keys in `db`. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly deliver: (queued: Queued<T>) => Promise<Delivery>;
  /** File to which a dead letter is written before the item leaves the queue: a line of JSON with the item and the error. */
  readonly deadLetters: string;
  readonly concurrency?: number;
}

const rewriteMs = 1_000;

/**
 * A queue with at-least-once delivery that survives a kill. `add` resolves once the item is on disk, and the item
 * leaves the disk only after its delivery. Each waiting item has a timer in memory. The order of items is not kept.
 */
export class DurableQueue<T> {
  private readonly timers = new Map<string, () => void>();
  private readonly ready: Queued<T>[] = [];
  private readonly running = new Set<Promise<void>>();
  private readonly ids = new Set<string>();
  private closed = false;

  constructor(private readonly options: DurableQueueOptions<T>) {}

  async open(): Promise<void> {
    const { db, prefix } = this.options;
    for await (const [, value] of db.iterator({ gt: prefix, lt: `${prefix}\uffff` })) this.arm(value as Queued<T>);
  }

  /**
   * Adds an item and resolves once it is on disk. Idempotent: an id that is already in the queue is not added again.
   */
  async add(id: string, item: T): Promise<void> {
    await this.addAll([{ id, item }]);
  }

  async addAll(items: readonly { readonly id: string; readonly item: T }[]): Promise<void> {
    const now = this.options.clock.now();
    const rows = items
      .filter(({ id }) => !this.ids.has(id))
      .map(({ id, item }): Queued<T> => ({ id, item, attempts: 0, addedAt: now, dueAt: now }));
    for (const row of rows) this.ids.add(row.id);
    try {
      await this.options.db.batch(rows.map((value) => ({ type: "put", key: this.options.prefix + value.id, value })));
    } catch (error) {
      for (const row of rows) this.ids.delete(row.id);
      throw error;
    }
    for (const row of rows) this.arm(row);
  }

  get size(): number {
    return this.ids.size;
  }

  /** Stops the queue. Undelivered items stay on disk for the next process. */
  async close(): Promise<void> {
    this.closed = true;
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
    await Promise.allSettled(this.running);
  }

  private arm(row: Queued<T>): void {
    this.ids.add(row.id);
    if (this.closed) return;
    const delay = row.dueAt - this.options.clock.now();
    const due = () => {
      this.timers.delete(row.id);
      this.ready.push(row);
      this.pump();
    };
    if (delay <= 0) due();
    else this.timers.set(row.id, this.options.clock.schedule(delay, due));
  }

  private pump(): void {
    while (!this.closed && this.ready.length > 0 && this.running.size < (this.options.concurrency ?? 32)) {
      const run: Promise<void> = this.attempt(this.ready.shift()!)
        .catch((error) => process.stderr.write(`queue ${this.options.prefix}: ${error}\n`))
        .then(() => {
          this.running.delete(run);
          this.pump();
        });
      this.running.add(run);
    }
  }

  private async attempt(row: Queued<T>): Promise<void> {
    const { deliver, db, prefix, clock } = this.options;
    const result = await deliver(row).catch(
      (error): Delivery => ({ outcome: "retry", delayMs: 60_000, error: String(error) }),
    );
    // A delivery that the shutdown interrupted is not a failed attempt.
    if (this.closed && result.outcome !== "done") return;
    if (result.outcome === "retry") {
      const next = { ...row, attempts: row.attempts + 1, dueAt: clock.now() + result.delayMs };
      return this.record(
        row.id,
        () => db.put(prefix + row.id, next),
        () => this.arm(next),
      );
    }
    let isWritten = result.outcome !== "dead";
    const remove = async (): Promise<void> => {
      if (!isWritten) {
        const letter = { time: new Date(clock.now()).toISOString(), ...row, attempts: row.attempts + 1, ...result };
        appendFileSync(this.options.deadLetters, `${JSON.stringify(letter)}\n`);
        isWritten = true;
      }
      await db.del(prefix + row.id);
    };
    return this.record(row.id, remove, () => this.ids.delete(row.id));
  }

  /**
   * Writes the result of an attempt, again and again while the disk is full. If the process dies before that, the next
   * one delivers the item again.
   */
  private async record(id: string, write: () => Promise<void>, then: () => void): Promise<void> {
    try {
      await write();
      then();
    } catch (error) {
      if (this.closed) return;
      process.stderr.write(`queue ${this.options.prefix}: ${error}\n`);
      this.timers.set(
        id,
        this.options.clock.schedule(rewriteMs, () => {
          this.timers.delete(id);
          void this.record(id, write, then);
        }),
      );
    }
  }
}
