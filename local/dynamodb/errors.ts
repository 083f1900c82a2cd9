import { isDiskFull } from "../storage/space";
/** An error answer of DynamoDB: HTTP 400 (500 for internal errors) and a JSON body with `__type`. */
export class DynamoDbError extends Error {
  constructor(
    /** The full name of the error's shape on the wire: `com.amazonaws.dynamodb.v20120810#ResourceNotFoundException`. */
    readonly type: string,
    message: string,
    readonly members: Readonly<Record<string, unknown>> = {},
    readonly httpStatus = 400,
  ) {
    super(message);
    this.name = type.slice(type.indexOf("#") + 1);
  }

  get code(): string {
    return this.name;
  }

  get retryable(): boolean {
    return this.httpStatus >= 500;
  }
}

const service = "com.amazonaws.dynamodb.v20120810#";

export function validation(message: string): DynamoDbError {
  return new DynamoDbError("com.amazon.coral.validate#ValidationException", message);
}

export function serialization(message: string): DynamoDbError {
  return new DynamoDbError("com.amazon.coral.service#SerializationException", message);
}

export function accessDenied(message: string): DynamoDbError {
  return new DynamoDbError("com.amazon.coral.service#AccessDeniedException", message);
}

export function unknownOperation(): DynamoDbError {
  return new DynamoDbError("com.amazon.coral.service#UnknownOperationException", "An unknown operation was requested.");
}

/**
 * Creates the error for a DynamoDB parameter that this service does not implement. Ignoring the parameter could give
 * wrong results.
 */
export function notImplemented(parameter: string, instead: string): DynamoDbError {
  return validation(`${parameter} is not supported by the embedded DynamoDB: ${instead}`);
}

export function resourceNotFound(detail?: string): DynamoDbError {
  const message = "Requested resource not found";
  return new DynamoDbError(`${service}ResourceNotFoundException`, detail ? `${message}: ${detail}` : message);
}

export function resourceInUse(message: string): DynamoDbError {
  return new DynamoDbError(`${service}ResourceInUseException`, message);
}

/** Creates the error for a single write whose condition did not hold. `item` is included if the caller requested it. */
export function conditionFailed(item?: unknown): DynamoDbError {
  return new DynamoDbError(
    `${service}ConditionalCheckFailedException`,
    "The conditional request failed",
    item === undefined ? {} : { Item: item },
  );
}

export interface CancellationReason {
  readonly Code: string;
  readonly Message?: string;
  readonly Item?: unknown;
}

export function transactionCanceled(reasons: readonly CancellationReason[]): DynamoDbError {
  const codes = reasons.map((reason) => reason.Code).join(", ");
  return new DynamoDbError(
    `${service}TransactionCanceledException`,
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}

export function idempotentParameterMismatch(): DynamoDbError {
  return new DynamoDbError(
    `${service}IdempotentParameterMismatchException`,
    "Specified idempotent token was used with different request parameters within the idempotency window",
  );
}

export function internalError(cause?: unknown): DynamoDbError {
  const why = isDiskFull(cause) ? "the disk that holds the tables is full" : "of an internal failure";
  return new DynamoDbError(
    "com.amazon.coral.service#InternalServerError",
    `The request could not be carried out because ${why}; nothing of it was stored`,
    {},
    500,
  );
}
