/** The codes that the service answers with, as the API reference names them. */
export type ServiceErrorCode =
  | "ConflictException"
  | "ExecutionAlreadyExists"
  | "ExecutionDoesNotExist"
  | "ExecutionNotRedrivable"
  | "InternalFailure"
  | "InvalidArn"
  | "InvalidDefinition"
  | "InvalidExecutionInput"
  | "InvalidName"
  | "InvalidOutput"
  | "InvalidToken"
  | "MissingRequiredParameter"
  | "ResourceNotFound"
  | "SerializationException"
  | "StateMachineAlreadyExists"
  | "StateMachineDeleting"
  | "StateMachineDoesNotExist"
  | "StateMachineTypeNotSupported"
  | "TaskDoesNotExist"
  | "TaskTimedOut"
  | "TooManyTags"
  | "UnknownOperationException"
  | "ValidationException";

/** An error of the API: it reaches the caller as the SDK's typed exception. */
export class ServiceError extends Error {
  readonly httpStatus: number;
  readonly retryable: boolean;

  constructor(
    readonly code: ServiceErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = code;
    this.httpStatus = code === "InternalFailure" ? 500 : 400;
    this.retryable = code === "InternalFailure";
  }
}

/**
 * A state failed. `error` and `cause` are what Retry and Catch see.
 * `evaluation` is set when an expression failed: such a failure has a history event of its own.
 */
export class StateError extends Error {
  constructor(
    readonly error: string,
    override readonly cause: string,
    readonly evaluation?: { readonly location: string },
  ) {
    super(`${error}: ${cause}`);
    this.name = "StateError";
  }
}

/** Names a JSONPath state's unretriable failure: bad paths, bad types. `States.ALL` does not match it. */
export const runtimeError = "States.Runtime";
