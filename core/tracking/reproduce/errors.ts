import { RingmasterError } from "../../errors";

/** A run whose training did not come to its end left no weights: there is nothing that another could be identical to. */
export class NotTrainedError extends RingmasterError {
  constructor(runId: string) {
    super(
      `run ${runId} has not finished its training, so there are no weights to reproduce; wait for it, or submit its job again`,
      { code: "RUN_NOT_TRAINED", httpStatus: 409, details: { runId } },
    );
  }
}

/** The run is no reproduction, and it was not said which other it is to be held against. */
export class NothingToCompareError extends RingmasterError {
  constructor(runId: string) {
    super(
      `run ${runId} reproduces no other run; say with \`of\` (\`--of\`) which run it is to be held against, or reproduce it first`,
      { code: "NOT_A_REPRODUCTION", httpStatus: 409, details: { runId } },
    );
  }
}

/** A reproduction answers whether weights come out again: it makes no version of a model. */
export class ReproductionNotRegisteredError extends RingmasterError {
  constructor(runId: string, of: string) {
    super(
      `run ${runId} reproduces ${of}, and a reproduction makes no version: the version of ${of} is the one to promote`,
      {
        code: "REPRODUCTION_NOT_REGISTERED",
        httpStatus: 409,
        details: { runId, of },
      },
    );
  }
}
