export interface BackoffTiming {
  /** Upper bound of the wait before retry 0; it doubles with each retry. */
  readonly firstMs: number;
  readonly maxMs: number;
  /** Share of the bound that is always waited: 0 (the default) is full jitter, 0.5 equal jitter. */
  readonly minShare?: number;
}

/** Waits before retry 1, 2, …. */
export type Pause = (retry: number) => Promise<void>;

/**
 * Computes the wait before a retry: exponential backoff with jitter, so that many callers do not retry at the same time
 * (aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter).
 * @param random in [0, 1)
 */
export function backoffMs(
  retry: number,
  { firstMs, maxMs, minShare = 0 }: BackoffTiming,
  random: () => number,
): number {
  return Math.min(maxMs, firstMs * 2 ** retry) * (minShare + (1 - minShare) * random());
}

export function createPause(
  timing: BackoffTiming,
  sleep: (ms: number) => Promise<unknown>,
  random: () => number,
): Pause {
  return async (retry) => void (await sleep(backoffMs(retry, timing, random)));
}

export interface Rounds {
  readonly rounds: number;
  readonly pause: Pause;
  /** Creates the error for the caller when another writer was first in every round. */
  readonly busy: () => Error;
}

/**
 * Repeats an optimistic write until it succeeds: read, decide, and write under the condition that what was read is
 * unchanged.
 * @param attempt returns `undefined` if another writer was first
 * @throws the error that `busy` creates
 */
export async function inRounds<Result>(
  { rounds, pause, busy }: Rounds,
  attempt: (round: number) => Promise<Result | undefined>,
): Promise<Result> {
  for (let round = 0; round < rounds; round += 1) {
    if (round > 0) await pause(round);
    const result = await attempt(round);
    if (result !== undefined) return result;
  }
  throw busy();
}
