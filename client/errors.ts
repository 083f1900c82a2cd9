import { backoffMs } from "../core/backoff";
import { RingmasterError } from "../core/errors";

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

/** Tests whether a failed request should be sent again. @param safe whether the request is idempotent */
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

/** Thrown when the API returned an error: its own code, message and details. */
export class ApiError extends RingmasterError {
  /** Identifies the request in the API's logs. */
  readonly requestId: string | undefined;
  /** Time to wait before a retry, if the API gave one. */
  readonly retryAfterMs: number | undefined;

  constructor(
    error: { readonly code: string; readonly message: string; readonly details?: unknown; readonly requestId?: string },
    httpStatus: number,
    headers: Headers,
  ) {
    super(error.message, {
      code: error.code,
      httpStatus,
      retryable: httpStatus === 429 || httpStatus >= 500,
      details: error.details,
    });
    this.requestId = error.requestId ?? headers.get("x-request-id") ?? undefined;
    const seconds = Number(headers.get("retry-after") ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(seconds) ? seconds * 1000 : undefined;
  }
}

export class ApiUnreachableError extends RingmasterError {
  /** Whether the host exists and refuses the connection. */
  readonly refused: boolean;

  constructor(baseUrl: string, cause: unknown) {
    super(
      `no API answers at ${baseUrl}: start the embedded cloud with \`ringmaster up\`, or point RINGMASTER_API_URL to yours`,
      { code: "API_UNREACHABLE", httpStatus: 503, retryable: true, cause },
    );
    this.refused = codesOf(cause).includes("ECONNREFUSED");
  }
}

/** Thrown when the API took longer than the client waits. The operation may have been executed. */
export class ApiTimeoutError extends RingmasterError {
  constructor(method: string, url: URL, timeoutMs: number, cause: unknown) {
    super(
      `${method} ${url.pathname} was not answered within ${timeoutMs} ms; send it again, with the same Idempotency-Key`,
      {
        code: "API_TIMEOUT",
        httpStatus: 504,
        retryable: true,
        cause,
      },
    );
  }
}

/**
 * Returns the codes of an error and its causes. fetch wraps the socket's errors, one for each address that it tried.
 */
function codesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  const { code, errors } = error as Error & { readonly code?: unknown; readonly errors?: readonly unknown[] };
  return [code, ...codesOf(error.cause), ...(errors ?? []).flatMap(codesOf)];
}
