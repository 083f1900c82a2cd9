import { RingmasterError } from "../../errors";

/** Thrown when other reports changed the outcomes before each attempt. */
export class OutcomesBusyError extends RingmasterError {
  constructor(model: string) {
    super(`too many requests report outcomes of model ${model} at the same time; send the request again`, {
      code: "OUTCOMES_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { model },
    });
  }
}

/** Thrown when a version that has not passed the gates would serve units. */
export class NotACanaryError extends RingmasterError {
  constructor(model: string, version: number, stage: string) {
    super(
      `version ${version} of ${model} is in stage ${stage}: only a version in stage canary can get a share of the units; ` +
        `move it with \`ringmaster models stage ${model} ${version} canary\`, which needs a passed gate`,
      { code: "NOT_A_CANARY", httpStatus: 409, details: { model, version, stage } },
    );
  }
}

/** Thrown when there is no test, or nothing to test. */
export class NoCanaryTestError extends RingmasterError {
  constructor(model: string) {
    super(
      `model ${model} has no canary under test: set one with \`ringmaster models traffic set ${model} --canary VERSION=WEIGHT --metric NAME\``,
      { code: "NO_CANARY_TEST", httpStatus: 409, details: { model } },
    );
  }
}
