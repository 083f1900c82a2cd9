import type { Clock } from "./clock";

/**
 * Calls back for each due item by a clock that may be advanced. It keeps one timer, for the earliest item. A due item
 * is removed before its callback, which may set the next time.
 */
export class Ticker {
  private readonly due = new Map<string, number>();
  private cancel: () => void = () => undefined;
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly onDue: (id: string, dueAt: number) => void,
  ) {}

  /** Sets the time of an item. `undefined` removes the item. */
  set(id: string, dueAt: number | undefined): void {
    if (dueAt === undefined) this.due.delete(id);
    else this.due.set(id, dueAt);
    this.arm();
  }

  /** Fires everything that is due by the clock. Timers do so by themselves; call this after the clock is advanced. */
  tick(): void {
    const now = this.clock.now();
    for (const [id, dueAt] of [...this.due].filter(([, time]) => time <= now).sort(([, a], [, b]) => a - b)) {
      this.due.delete(id);
      this.onDue(id, dueAt);
    }
    this.arm();
  }

  close(): void {
    this.closed = true;
    this.cancel();
  }

  private arm(): void {
    this.cancel();
    if (this.closed || this.due.size === 0) return;
    const earliest = Math.min(...this.due.values());
    this.cancel = this.clock.schedule(Math.max(0, earliest - this.clock.now()), () => this.tick());
  }
}
