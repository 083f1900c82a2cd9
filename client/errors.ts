import { RingmasterError } from "../core/errors";

/** The API refused or failed: its own code, message and details. */
export class ApiError extends RingmasterError {
  /** Names the request in the API's logs. */
  readonly requestId: string | undefined;
  /** How long to wait before sending it again, where the API said so. */
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

/** Nobody answers where the API should be. */
export class ApiUnreachableError extends RingmasterError {
  /** Whether the address is there and nobody listens on the port. */
  readonly refused: boolean;

  constructor(baseUrl: string, cause: unknown) {
    super(
      `no API answers at ${baseUrl}: start the embedded cloud with \`ringmaster up\`, or point RINGMASTER_API_URL to yours`,
      { code: "API_UNREACHABLE", httpStatus: 503, retryable: true, cause },
    );
    this.refused = codesOf(cause).includes("ECONNREFUSED");
  }
}

/** The API took longer than the client waits. What was asked for may have been done. */
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

/** Of an error and its causes; fetch wraps what the socket said, once for each address that it tried. */
function codesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  const { code, errors } = error as Error & { readonly code?: unknown; readonly errors?: readonly unknown[] };
  return [code, ...codesOf(error.cause), ...(errors ?? []).flatMap(codesOf)];
}
