import type { Clock } from "../../clock";

/** Calls back at a moment, in milliseconds since the epoch; at once if it has passed. Returns the cancellation. */
export const at = (clock: Clock, due: number, callback: () => void): (() => void) =>
  clock.schedule(Math.max(0, due - clock.now()), callback);
