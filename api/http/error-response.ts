import { RingmasterError } from "../../core/errors";

/** Creates the response for any error: `{error: {code, message, details, requestId}}`. */
export function errorResponse(
  { code, message, details, httpStatus, retryable }: RingmasterError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  // A caller that may retry should wait first.
  const pause: Record<string, string> = retryable && httpStatus !== 500 ? { "retry-after": "1" } : {};
  return Response.json(
    { error: { code, message, details, requestId } },
    { status: httpStatus, headers: { "x-request-id": requestId, ...pause, ...headers } },
  );
}

export function knownError(error: Error): RingmasterError {
  if (error instanceof RingmasterError) return error;
  if (/\bdisk\b.* is full/.test(error.message)) {
    return new RingmasterError(`${error.message}. Free some disk space, then send the request again`, {
      code: "STORAGE_FULL",
      httpStatus: 507,
      retryable: true,
      cause: error,
    });
  }
  return new RingmasterError("internal error; the server log has the details under this request id", {
    code: "INTERNAL",
    httpStatus: 500,
    retryable: true,
    cause: error,
  });
}
