import { RingmasterError } from "../core/errors";

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

/** Thrown when the API does not respond. */
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
