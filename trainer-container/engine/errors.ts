/** An error of the engine. None is retryable: the same definition on the same machine fails in the same way. */
export class EngineError extends Error {
  readonly code: string;
  readonly httpStatus: number;
  readonly retryable = false;

  constructor(code: string, message: string, options: { readonly httpStatus?: number; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.httpStatus = options.httpStatus ?? 500;
  }
}

export class BackendUnavailableError extends EngineError {
  constructor(message: string, cause?: unknown) {
    super("BACKEND_UNAVAILABLE", message, { httpStatus: 503, cause });
  }
}

/** The model definition, or a result of the user's module, cannot be trained or exported. */
export class ModelError extends EngineError {
  constructor(message: string, cause?: unknown) {
    super("INVALID_MODEL", message, { httpStatus: 422, cause });
  }
}

/** A buffer of the wrong length or a batch of the wrong shape: a bug in the calling code. */
export class BatchError extends EngineError {
  constructor(message: string) {
    super("INVALID_BATCH", message);
  }
}

/** Returns the message for a model without a graph, which computes in float32 only. */
export const needsGraph = (precision: string, reason: string): string =>
  `The precision ${precision} needs a model that is a graph, but it cannot be one: ${reason}. Change the model, or train in float32.`;

/** A pass has other nodes than the recording that it should repeat. */
export class RecordingDiffers extends EngineError {
  constructor() {
    super("RECORDING_DIFFERS", "The pass has another operation or constant than its recording.");
  }
}
