/** Training cannot continue, and a new attempt would end in the same way. Becomes the run's `TrainingFailure`. */
export class TrainingHaltedError extends Error {
  constructor(
    /** `NON_FINITE_LOSS`, `NON_FINITE_GRADIENT`, `NUMERICS_DIFFER`, `BAD_TASK`, … */
    readonly code: string,
    message: string,
    readonly step?: number,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = "TrainingHaltedError";
  }
}

/** The checkpoint at which a segment ends is not stored: the process that had the whole state was lost. */
export class CheckpointMissingError extends Error {
  constructor(runId: string, step: number) {
    super(`the checkpoint of run ${runId} at step ${step}, where it pauses, is not stored`);
    this.name = "CheckpointMissingError";
  }
}
