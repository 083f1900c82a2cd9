import { setTimeout as sleep } from "node:timers/promises";
import { createPause } from "../../core/backoff";

const attempts = 6;
const pause = createPause({ firstMs: 50, maxMs: 2_000 }, sleep, Math.random);

/** Runs `action` again while it fails with an error that `retryable` accepts. */
export async function withRetries<T>(retryable: (error: unknown) => boolean, action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action();
    } catch (error) {
      if (attempt === attempts || !retryable(error)) throw error;
      await pause(attempt);
    }
  }
}
