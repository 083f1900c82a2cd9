import { RingmasterError } from "../../core/errors";

/** MLflow's codes with their statuses (`mlflow/exceptions.py`). "Already exists" is 400, not 409. */
const statuses = {
  BAD_REQUEST: 400,
  INVALID_PARAMETER_VALUE: 400,
  RESOURCE_ALREADY_EXISTS: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  ENDPOINT_NOT_FOUND: 404,
  RESOURCE_DOES_NOT_EXIST: 404,
  RESOURCE_CONFLICT: 409,
  REQUEST_LIMIT_EXCEEDED: 429,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL_ERROR: 500,
  INVALID_STATE: 500,
  NOT_IMPLEMENTED: 501,
  TEMPORARILY_UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
} as const;

export type MlflowErrorCode = keyof typeof statuses;

export class MlflowError extends RingmasterError {
  constructor(code: MlflowErrorCode, message: string, cause?: unknown) {
    super(message, { code, httpStatus: statuses[code], cause });
  }
}

export function invalidParameter(message: string): MlflowError {
  return new MlflowError("INVALID_PARAMETER_VALUE", message);
}

/** Maximum number of characters of a refused value in a message. */
const maxShown = 1_000;

export function invalidValue(parameter: string, value: unknown, rule?: string): MlflowError {
  return invalidJsonValue(parameter, JSON.stringify(value) ?? "null", rule);
}

/** Like `invalidValue`, for a value that is already JSON. */
export function invalidJsonValue(parameter: string, json: string, rule = "it has the wrong type"): MlflowError {
  const shown = json.length <= maxShown ? json : `${json.slice(0, maxShown)}…`;
  return invalidParameter(`Invalid value ${shown} for parameter '${parameter}' supplied: ${rule}`);
}

export function missingValue(parameter: string): MlflowError {
  return invalidParameter(`Missing value for required parameter '${parameter}'.`);
}

export function doesNotExist(message: string): MlflowError {
  return new MlflowError("RESOURCE_DOES_NOT_EXIST", message);
}

/** MLflow's codes for the platform's errors. Others are mapped by their status. */
const byCode: Readonly<Record<string, MlflowErrorCode>> = {
  ROUTE_NOT_FOUND: "ENDPOINT_NOT_FOUND",
  EXPERIMENT_EXISTS: "RESOURCE_ALREADY_EXISTS",
  MODEL_EXISTS: "RESOURCE_ALREADY_EXISTS",
  MODEL_ALREADY_EXISTS: "RESOURCE_ALREADY_EXISTS",
  ALIAS_FOLLOWS_PRODUCTION: "PERMISSION_DENIED",
  CANARY_UNDER_TEST: "PERMISSION_DENIED",
  GATE_NOT_PASSED: "PERMISSION_DENIED",
  GATE_OUTDATED: "PERMISSION_DENIED",
  IN_PRODUCTION: "PERMISSION_DENIED",
  NOT_AN_APPROVER: "PERMISSION_DENIED",
  NOT_APPROVED: "PERMISSION_DENIED",
};

const byStatus: Readonly<Record<number, MlflowErrorCode>> = {
  400: "INVALID_PARAMETER_VALUE",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "RESOURCE_DOES_NOT_EXIST",
  405: "ENDPOINT_NOT_FOUND",
  409: "RESOURCE_CONFLICT",
  413: "INVALID_PARAMETER_VALUE",
  415: "INVALID_PARAMETER_VALUE",
  429: "REQUEST_LIMIT_EXCEEDED",
  501: "NOT_IMPLEMENTED",
  502: "TEMPORARILY_UNAVAILABLE",
  503: "TEMPORARILY_UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  507: "RESOURCE_EXHAUSTED",
};

/** Statuses that MLflow does not use stay unchanged: its client decides by the status whether to retry. */
const keptStatuses: ReadonlySet<number> = new Set([405, 413, 415, 507]);

export function mlflowErrorResponse(
  error: RingmasterError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const { code, status } = mlflowErrorOf(error);
  const pause: Record<string, string> = error.retryable && error.httpStatus !== 500 ? { "retry-after": "1" } : {};
  return Response.json(
    { error_code: code, message: error.message },
    { status, headers: { "x-request-id": requestId, ...pause, ...headers } },
  );
}

function mlflowErrorOf({ code, httpStatus }: RingmasterError): {
  readonly code: MlflowErrorCode;
  readonly status: number;
} {
  if (code in statuses) return { code: code as MlflowErrorCode, status: statuses[code as MlflowErrorCode] };
  const mlflowCode = byCode[code] ?? byStatus[httpStatus] ?? "INTERNAL_ERROR";
  return { code: mlflowCode, status: keptStatuses.has(httpStatus) ? httpStatus : statuses[mlflowCode] };
}
