/** The service's error codes, named as in the API reference. */
export type ServiceErrorCode =
  | "ExecutionAlreadyExists"
  | "ExecutionDoesNotExist"
  | "InternalFailure"
  | "InvalidArn"
  | "InvalidDefinition"
  | "InvalidExecutionInput"
  | "InvalidName"
  | "InvalidOutput"
  | "InvalidToken"
  | "MissingRequiredParameter"
  | "SerializationException"
  | "StateMachineAlreadyExists"
  | "StateMachineDeleting"
  | "StateMachineDoesNotExist"
  | "StateMachineTypeNotSupported"
  | "TaskDoesNotExist"
  | "TaskTimedOut"
  | "UnknownOperationException"
  | "ValidationException";

/** An error of the API, which the caller receives as the SDK's typed exception. */
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
 * A failed state. Retry and Catch see `error` and `cause`. `evaluation` is set if an expression failed, because such a
 * failure has its own history event.
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
