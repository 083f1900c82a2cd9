import { backoffMs } from "../core/backoff";
import { ApiError, ApiTimeoutError, ApiUnreachableError } from "./errors";

export interface RetryOptions {
  /** The first one included. */
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

/** Statuses that say: not now. */
const comeAgain = [429, 502, 503, 504];

/** @param safe whether doing it twice is doing it once */
export function isWorthRepeating(error: unknown, safe: boolean): boolean {
  // A request that was throttled did nothing.
  if (error instanceof ApiError) return error.httpStatus === 429 || (safe && comeAgain.includes(error.httpStatus));
  if (error instanceof ApiTimeoutError) return safe;
  // Nobody listens there: a person wants to know at once.
  if (error instanceof ApiUnreachableError) return safe && !error.refused;
  return false;
}

/** Computes the wait before an attempt: backoff with full jitter, and never sooner than the API asked for, up to the cap. */
export function pauseBefore(attempt: number, error: unknown, { baseMs, capMs, random }: RetryOptions): number {
  const jittered = backoffMs(attempt, { firstMs: baseMs, maxMs: capMs }, random);
  const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.min(Math.max(jittered, asked), capMs);
}
