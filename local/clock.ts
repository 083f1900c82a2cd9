/** Time as the embedded services see it, so that tests and schedules move it rather than wait for it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, `delayMs` from now. Returns the cancellation. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Node's timers hold 2³¹ − 1 ms; what is due later is armed again on the way. */
const longestTimer = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    const dueAt = Date.now() + delayMs;
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = dueAt - Date.now();
      timer = left > longestTimer ? setTimeout(arm, longestTimer) : setTimeout(callback, Math.max(0, left));
    };
    arm();
    return () => clearTimeout(timer);
  },
};

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

  /** Moves time by `ms`; a timer sees the moment at which it was due. */
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

  /** How many timers wait: a leak check. */
  get pending(): number {
    return this.timers.size;
  }
}
