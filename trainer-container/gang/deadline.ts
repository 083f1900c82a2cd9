import { type GangTimers, processTimers } from "./environment";

/** Rejects if `work` takes too long: a dead connection to the store must not block a gang. */
export async function withDeadline<T>(
  work: Promise<T>,
  ms: number,
  what: string,
  timers: GangTimers = processTimers,
): Promise<T> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = timers.after(ms, () => reject(new Error(`${what} did not answer within ${ms} ms`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
