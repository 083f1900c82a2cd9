/** The clock of the embedded services. Tests and schedules advance it instead of waiting. */
export interface Clock {
  /** Returns the time in milliseconds since the epoch. */
  now(): number;
  /** Calls back once, when `now()` has advanced by at least `delayMs`. Returns a function that cancels the timer. */
  schedule(delayMs: number, callback: () => void): () => void;
}

export type Time = Pick<Clock, "now">;

/** The longest delay of a Node timer: 2³¹ − 1 ms. A longer delay is split into several timers. */
const maxTimerMs = 0x7fffffff;

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule(delayMs, callback) {
    const dueAt = Date.now() + delayMs;
    let timer: NodeJS.Timeout;
    // Node's timers do not follow `Date` and drop fractions, so they may fire up to a millisecond early. A caller that
    // then finds nothing due would wait forever. This rechecks `now()` and arms the timer again.
    const arm = () => {
      timer = setTimeout(ring, Math.min(Math.max(0, Math.ceil(dueAt - Date.now())), maxTimerMs));
    };
    const ring = () => (Date.now() < dueAt ? arm() : callback());
    arm();
    return () => clearTimeout(timer);
  },
};

/**
 * Calls back at a time in milliseconds since the epoch, at once if it has passed. Returns a function that cancels it.
 */
export const at = (clock: Clock, due: number, callback: () => void): (() => void) =>
  clock.schedule(Math.max(0, due - clock.now()), callback);
