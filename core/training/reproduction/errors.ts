import { RingmasterError } from "../../errors";

/** Thrown when a run did not complete its training, so that there are no weights to compare. */
export class NotTrainedError extends RingmasterError {
  constructor(runId: string) {
    super(
      `run ${runId} has not finished its training, so there are no weights to reproduce; wait for it, or submit its job again`,
      { code: "RUN_NOT_TRAINED", httpStatus: 409, details: { runId } },
    );
  }
}

/** Thrown when the run is no reproduction and the request names no other run. */
export class NothingToCompareError extends RingmasterError {
  constructor(runId: string) {
    super(
      `run ${runId} reproduces no other run; say with \`of\` (\`--of\`) which run it is to be held against, or reproduce it first`,
      { code: "NOT_A_REPRODUCTION", httpStatus: 409, details: { runId } },
    );
  }
}
