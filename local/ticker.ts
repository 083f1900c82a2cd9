import type { Clock } from "./clock";
import { SerialQueue } from "./serial-queue";

/** The time until a failed firing is repeated. */
const retryMs = 1_000;

/**
 * Fires each due item by a clock that may be advanced, one item at a time. It keeps one timer, for the earliest item. A
 * due item is removed before it is fired, and the firing may set its next time. A firing that fails, because the disk is
 * full, is repeated.
 */
export class Ticker {
  private readonly due = new Map<string, number>();
  private readonly firings = new SerialQueue();
  private readonly retries = new Set<() => void>();
  private cancel: () => void = () => undefined;
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly service: string,
    private readonly fire: (id: string, dueAt: number) => Promise<void>,
  ) {}

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
      this.run(id, dueAt);
    }
    this.arm();
  }

  private run(id: string, dueAt: number): void {
    this.firings
      .run(() => this.fire(id, dueAt))
      .catch((error) => {
        process.stderr.write(`${this.service}: ${id}: ${error}\n`);
        if (this.closed || this.due.has(id)) return;
        const cancel = this.clock.schedule(retryMs, () => {
          this.retries.delete(cancel);
          this.run(id, dueAt);
        });
        this.retries.add(cancel);
      });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.cancel();
    for (const cancel of this.retries) cancel();
    await this.firings.drain();
  }

  private arm(): void {
    this.cancel();
    if (this.closed || this.due.size === 0) return;
    const earliest = Math.min(...this.due.values());
    this.cancel = this.clock.schedule(Math.max(0, earliest - this.clock.now()), () => this.tick());
  }
}
