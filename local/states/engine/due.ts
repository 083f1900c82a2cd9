import type { Clock } from "../../clock";

/**
 * Calls back at a time in milliseconds since the epoch, at once if it has passed. Returns a function that cancels it.
 */
export const at = (clock: Clock, due: number, callback: () => void): (() => void) =>
  clock.schedule(Math.max(0, due - clock.now()), callback);
