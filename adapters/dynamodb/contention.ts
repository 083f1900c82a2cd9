import { setTimeout as sleep } from "node:timers/promises";

const firstPauseMs = 10;
const longestPauseMs = 2_000;

/** Waits before the next round of an optimistic write: exponential backoff, full jitter. */
export async function pauseBeforeRound(round: number): Promise<void> {
  await sleep(Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** round));
}
