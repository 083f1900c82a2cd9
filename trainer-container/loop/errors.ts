/** Training cannot continue, and a new attempt would end in the same way. Becomes the run's `TrainingFailure`. */
export class TrainingHaltedError extends Error {
  constructor(
    /** `NON_FINITE_LOSS`, `NON_FINITE_GRADIENT`, `NUMERICS_DIFFER`, `BAD_TASK`, … */
    readonly code: string,
    message: string,
    /** Number of steps that were finished before. */
    readonly step?: number,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.name = "TrainingHaltedError";
  }
}
