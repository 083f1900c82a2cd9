import { setTimeout as sleep } from "node:timers/promises";

const firstPauseMs = 10;
const longestPauseMs = 2_000;

/** Waits before the next round of an optimistic write, or the next try of a request: exponential backoff, full jitter. */
export async function pauseBeforeRound(round: number, firstMs = firstPauseMs): Promise<void> {
  await sleep(Math.random() * Math.min(longestPauseMs, firstMs * 2 ** round));
}
