/** A model artifact that cannot be read back, or a predictor used against its shapes. */
export class ModelArtifactError extends Error {
  readonly code = "INVALID_MODEL_ARTIFACT";
  readonly httpStatus = 422;
  readonly retryable = false;

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ModelArtifactError";
  }
}
