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
