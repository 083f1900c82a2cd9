import type { Clock } from "./clock";
import type { JsonDatabase } from "./storage/json-database";

/** What became of one try to deliver: done, again after a delay, again without having counted, or never again. */
export type Delivery =
  | { readonly outcome: "done" }
  | { readonly outcome: "retry"; readonly delayMs: number; readonly error: string }
  | { readonly outcome: "postpone"; readonly delayMs: number }
  | { readonly outcome: "dead"; readonly error: string };

/** One thing to deliver, with its history. `attempts` counts the tries that ended in `retry`. */
export interface Queued<T> {
  readonly id: string;
  readonly item: T;
  readonly attempts: number;
  /** Milliseconds since the epoch, as is `dueAt`. */
  readonly addedAt: number;
  readonly dueAt: number;
}

export interface DurableQueueOptions<T> {
  readonly db: JsonDatabase;
  /** Keys of this queue in `db` begin with it. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Tries once. A rejection is a bug of the caller's, and counts as a retry after a minute. */
  readonly deliver: (queued: Queued<T>) => Promise<Delivery>;
  /** Told before a dead item leaves the queue. */
  readonly bury: (queued: Queued<T>, error: string) => void;
  /** How many deliveries run at once. */
  readonly concurrency?: number;
}

/**
 * At-least-once delivery that survives a kill: an item is on disk before `add` resolves, and leaves the disk only after its
 * delivery. In memory: the items that wait, each with a timer. Order is not kept.
 */
export class DurableQueue<T> {
  private readonly timers = new Map<string, () => void>();
  private readonly ready: Queued<T>[] = [];
  private readonly running = new Set<Promise<void>>();
  private readonly ids = new Set<string>();
  private closed = false;

  constructor(private readonly options: DurableQueueOptions<T>) {}

  /** Loads what a former process left. */
  async open(): Promise<void> {
    const { db, prefix } = this.options;
    for await (const [, value] of db.iterator({ gt: prefix, lt: `${prefix}\uffff` })) this.arm(value as Queued<T>);
  }

  /** Resolves when the item is on disk. An id that waits already is the same item: nothing is added. */
  async add(id: string, item: T): Promise<void> {
    await this.addAll([{ id, item }]);
  }

  /** As `add`, all or nothing. */
  async addAll(items: readonly { readonly id: string; readonly item: T }[]): Promise<void> {
    const now = this.options.clock.now();
    const rows = items
      .filter(({ id }) => !this.ids.has(id))
      .map(({ id, item }): Queued<T> => ({ id, item, attempts: 0, addedAt: now, dueAt: now }));
    for (const row of rows) this.ids.add(row.id);
    await this.options.db.batch(rows.map((value) => ({ type: "put", key: this.options.prefix + value.id, value })));
    for (const row of rows) this.arm(row);
  }

  get size(): number {
    return this.ids.size;
  }

  /** Stops; what is not delivered stays on disk for the next process. */
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
        // The disk refused: the row stands as it was, and the next process delivers it again.
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
    // What the shutdown itself broke off is no failed attempt.
    if (this.closed && result.outcome !== "done") return;
    if (result.outcome === "retry" || result.outcome === "postpone") {
      const attempts = row.attempts + (result.outcome === "retry" ? 1 : 0);
      const next = { ...row, attempts, dueAt: clock.now() + result.delayMs };
      await db.put(prefix + row.id, next);
      this.arm(next);
      return;
    }
    if (result.outcome === "dead") this.options.bury(row, result.error);
    await db.del(prefix + row.id);
    this.ids.delete(row.id);
  }
}
