/** Time as the service sees it; tests inject one that they turn by hand. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once `now()` has reached `due`. The returned function cancels. */
  at(due: number, callback: () => void): () => void;
}

/** `setTimeout` fires at once for longer delays than this. */
const longestTimeout = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  at(due, callback) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const left = due - Date.now();
      timer = left > 0 ? setTimeout(arm, Math.min(left, longestTimeout)) : setTimeout(callback, 0);
      timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};
