/** A model artifact cannot be read, or a predictor was used with wrong shapes. */
export class ModelArtifactError extends Error {
  readonly code = "INVALID_MODEL_ARTIFACT";
  readonly httpStatus = 422;
  readonly retryable = false;

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ModelArtifactError";
  }
}
