import { RingmasterError } from "../core/errors";

/** The API refused: its own code, message and details. */
export class ApiError extends RingmasterError {
  constructor(
    error: { readonly code: string; readonly message: string; readonly details?: unknown },
    httpStatus: number,
    readonly requestId: string | undefined,
  ) {
    super(error.message, { code: error.code, httpStatus, retryable: httpStatus >= 500, details: error.details });
  }
}

/** Nobody answers where the API should be. */
export class ApiUnreachableError extends RingmasterError {
  constructor(baseUrl: string, cause: unknown) {
    super(
      `no API answers at ${baseUrl}: start the embedded cloud with \`ringmaster up\`, or point RINGMASTER_API_URL to yours`,
      {
        code: "API_UNREACHABLE",
        httpStatus: 503,
        retryable: true,
        cause,
      },
    );
  }
}
