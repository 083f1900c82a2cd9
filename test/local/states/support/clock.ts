import type { Clock } from "../../../../local/clock";

interface Timer {
  readonly due: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until it is advanced timer by timer. The work of a timer may settle before the next one.
 */
export class FakeClock implements Clock {
  private timers: Timer[] = [];

  constructor(private time = Date.UTC(2030, 0, 1)) {}

  now = (): number => this.time;

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { due: this.time + delayMs, callback };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((each) => each !== timer);
    };
  }

  turn(until: number): boolean {
    const next = this.timers.filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
    this.time = Math.max(this.time, next ? next.due : until);
    if (!next) return false;
    this.timers = this.timers.filter((each) => each !== next);
    next.callback();
    return true;
  }
}
