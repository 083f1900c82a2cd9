/** Time as the embedded services see it, so that tests and schedules move it rather than wait for it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once, when `now()` has gone on by `delayMs` or more: never sooner by this very clock. Returns the cancellation. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Node's timers hold 2³¹ − 1 ms; what is due later is armed again on the way. */
const longestTimer = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    const dueAt = Date.now() + delayMs;
    let timer: NodeJS.Timeout;
    // Node's timers follow another clock than `Date`, drop fractions, and so come up to a millisecond too soon: whoever then finds it too early would wait for ever.
    const arm = () => {
      timer = setTimeout(ring, Math.min(Math.max(0, Math.ceil(dueAt - Date.now())), longestTimer));
    };
    const ring = () => (Date.now() < dueAt ? arm() : callback());
    arm();
    return () => clearTimeout(timer);
  },
};
