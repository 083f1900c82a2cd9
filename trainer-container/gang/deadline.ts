import { type GangTimers, processTimers } from "./environment";

/** Rejects where `work` takes longer: a connection to the store that went dead must not hold up a gang. */
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
