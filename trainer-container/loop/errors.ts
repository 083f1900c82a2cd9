/** Training cannot go on: a new attempt would come to the same end. Becomes the run's `TrainingFailure`. */
export class TrainingHaltedError extends Error {
  constructor(
    /** `NON_FINITE_LOSS`, `NON_FINITE_GRADIENT`, `NUMERICS_DIFFER`, `BAD_TASK`, … */
    readonly code: string,
    message: string,
    /** Steps that were finished before. */
    readonly step?: number,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = "TrainingHaltedError";
  }
}
