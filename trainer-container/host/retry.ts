import { setTimeout as sleep } from "node:timers/promises";
import { judge } from "./failure";
import type { Interruption } from "./interruption";

const pauseMs = 5_000;
/** Long enough for an operator to free a disk or a service to come back; then a new attempt goes on from the checkpoint. */
const attempts = 120;

/** Repeats what failed because a service was away or full: the end of a long training must not hang on one bad minute. */
export async function insist<T>(
  action: () => Promise<T>,
  onFailure: (error: unknown) => void,
  interruption: Interruption,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      if (judge(error).kind !== "try-again" || attempt === attempts || interruption.raised) throw error;
      onFailure(error);
      const pause = new AbortController();
      const slept = sleep(pauseMs, undefined, { signal: pause.signal }).catch(() => undefined);
      await Promise.race([slept, interruption.happened]);
      pause.abort(); // an interruption ends the pause; its timer must not hold the process
    }
  }
}
