import { backoffMs } from "../core/backoff";
import { ApiError, ApiTimeoutError, ApiUnreachableError } from "./errors";

export interface RetryOptions {
  /** The first attempt included. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export const retryDefaults: RetryOptions = {
  attempts: 4,
  baseMs: 100,
  capMs: 5_000,
  random: Math.random,
  sleep: (milliseconds) => new Promise((done) => setTimeout(done, milliseconds)),
};

/** Statuses after which an idempotent request is sent again. */
const retryableStatuses = [429, 502, 503, 504];

/**
 * Tests whether a failed request should be sent again.
 *
 * @param safe whether the request is idempotent
 */
export function isRetryable(error: unknown, safe: boolean): boolean {
  // A throttled request had no effect.
  if (error instanceof ApiError)
    return error.httpStatus === 429 || (safe && retryableStatuses.includes(error.httpStatus));
  if (error instanceof ApiTimeoutError) return safe;
  // Nothing listens there, and a person should learn it immediately.
  if (error instanceof ApiUnreachableError) return safe && !error.refused;
  return false;
}

/** Computes the wait before an attempt: backoff with full jitter, and at least the API's own delay, up to the cap. */
export function pauseBefore(attempt: number, error: unknown, { baseMs, capMs, random }: RetryOptions): number {
  const jittered = backoffMs(attempt, { firstMs: baseMs, maxMs: capMs }, random);
  const requested = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.min(Math.max(jittered, requested), capMs);
}
