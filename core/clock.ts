import type { Clock } from "./ports";

/** Returns the time as ISO 8601 in UTC with milliseconds; lexical order is the order of time. */
export function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
