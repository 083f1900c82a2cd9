import { RingmasterError } from "../errors";

/** Thrown when a column has more categories than an encoding takes. */
export class TooManyCategoriesError extends RingmasterError {
  constructor(step: string, found: number, limit: number) {
    super(
      `step ${step} has ${found} categories in the training rows, and its maximum is ${limit}; set minCount to omit rare ones, or use hash, which needs no vocabulary`,
      { code: "TOO_MANY_VALUES", httpStatus: 400, details: { step, found, limit } },
    );
  }
}
