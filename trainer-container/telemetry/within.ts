import { setTimeout as sleep } from "node:timers/promises";

/** Settles when the work does, or after `patienceMs`. Leaves no timer behind. */
export async function within(patienceMs: number, work: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([work, sleep(patienceMs, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
}
