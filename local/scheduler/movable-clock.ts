import { type Clock, systemClock } from "../clock";

/**
 * A clock that runs like the system's and can be advanced. Everything that becomes due then fires at once, so a
 * schedule for 3 a.m. can be tested at any time.
 */
export class MovableClock implements Clock {
  private offsetMs = 0;
  private readonly timers = new Set<Timer>();

  constructor(private readonly base: Clock = systemClock) {}

  get aheadMs(): number {
    return this.offsetMs;
  }

  now(): number {
    return this.base.now() + this.offsetMs;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { dueAt: this.now() + delayMs, callback, cancel: () => undefined };
    this.timers.add(timer);
    this.arm(timer);
    return () => {
      timer.cancel();
      this.timers.delete(timer);
    };
  }

  advance(ms: number): void {
    this.offsetMs += ms;
    for (const timer of this.timers) {
      timer.cancel();
      this.arm(timer);
    }
  }

  private arm(timer: Timer): void {
    timer.cancel = this.base.schedule(Math.max(0, timer.dueAt - this.now()), () => {
      this.timers.delete(timer);
      timer.callback();
    });
  }
}

interface Timer {
  readonly dueAt: number;
  readonly callback: () => void;
  cancel: () => void;
}
