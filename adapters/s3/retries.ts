import { setTimeout as sleep } from "node:timers/promises";

const attempts = 6;
const firstPauseMs = 50;

/** Runs `action` again while it fails with an error that `retryable` accepts: exponential backoff, full jitter. */
export async function withRetries<T>(retryable: (error: unknown) => boolean, action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      if (attempt === attempts || !retryable(error)) throw error;
      await sleep(Math.random() * firstPauseMs * 2 ** attempt);
    }
  }
}
