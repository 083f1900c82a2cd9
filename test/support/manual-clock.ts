import type { Clock } from "../../local/clock";

interface Timer {
  readonly dueAt: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is moved; timers fire in the order in which they are due. */
export class ManualClock implements Clock {
  private readonly timers = new Set<Timer>();

  constructor(private time: number) {}

  now(): number {
    return this.time;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { dueAt: this.time + Math.max(0, delayMs), callback };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Moves time by `ms`; a timer sees the time at which it was due. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const next = [...this.timers].filter((t) => t.dueAt <= end).sort((a, b) => a.dueAt - b.dueAt)[0];
      if (!next) break;
      this.timers.delete(next);
      this.time = next.dueAt;
      next.callback();
    }
    this.time = end;
  }

  /** Number of waiting timers: a leak check. */
  get pending(): number {
    return this.timers.size;
  }
}
