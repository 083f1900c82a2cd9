import { RingmasterError } from "../errors";
import type { GateVerdict } from "./model";

export class ModelNotFoundError extends RingmasterError {
  constructor(name: string) {
    super(`there is no model ${JSON.stringify(name)}; \`ringmaster models list\` shows those that there are`, {
      code: "MODEL_NOT_FOUND",
      httpStatus: 404,
      details: { model: name },
    });
  }
}

export class VersionNotFoundError extends RingmasterError {
  constructor(model: string, version: number) {
    super(`model ${model} has no version ${version}; \`ringmaster models show ${model}\` lists its versions`, {
      code: "MODEL_VERSION_NOT_FOUND",
      httpStatus: 404,
      details: { model, version },
    });
  }
}

/** Nothing serves yet. */
export class NoChampionError extends RingmasterError {
  constructor(model: string) {
    super(
      `model ${model} has no version in production: nothing was promoted yet; approve a version that passed its gates (\`ringmaster models show ${model}\`)`,
      { code: "NO_CHAMPION", httpStatus: 404, details: { model } },
    );
  }
}

export class GateNotPassedError extends RingmasterError {
  constructor(model: string, version: number, verdict: GateVerdict | undefined) {
    const failed = verdict?.checks.filter((check) => !check.passed).map((check) => check.evidence) ?? [];
    super(
      verdict
        ? `version ${version} of ${model} did not pass its gates (${failed.join("; ")}): only a version that passed can be approved or promoted`
        : `version ${version} of ${model} has no gate verdict yet: it can be approved once its run has passed the gates`,
      { code: "GATE_NOT_PASSED", httpStatus: 409, details: { model, version, failed } },
    );
  }
}

export class NotApprovedError extends RingmasterError {
  constructor(model: string, version: number, decision: string | undefined) {
    super(
      decision === "rejected"
        ? `version ${version} of ${model} was rejected: it cannot be promoted; train a new version`
        : `version ${version} of ${model} has no approval: nobody can promote without one; \`ringmaster models approve ${model} ${version}\` gives it`,
      { code: "NOT_APPROVED", httpStatus: 409, details: { model, version } },
    );
  }
}

export class AlreadyDecidedError extends RingmasterError {
  constructor(model: string, version: number, decision: string, by: string) {
    super(`version ${version} of ${model} was ${decision} by ${by} already: a decision stands; train a new version`, {
      code: "ALREADY_DECIDED",
      httpStatus: 409,
      details: { model, version, decision, by },
    });
  }
}

export class NothingToRollBackError extends RingmasterError {
  constructor(model: string, production?: number) {
    const before =
      production === undefined
        ? "has never had a version in production"
        : `had none in production before version ${production}`;
    super(
      `model ${model} ${before}: there is nothing to roll back to; \`ringmaster models promote\` takes any version that was approved`,
      {
        code: "NOTHING_TO_ROLL_BACK",
        httpStatus: 409,
        details: { model },
      },
    );
  }
}

/** Who asked for the rollback saw another version in production than there is now. */
export class RollbackOvertakenError extends RingmasterError {
  constructor(model: string, from: number | undefined, now: number | undefined) {
    super(
      `version ${from} of ${model} is in production no more: ${now === undefined ? "nothing" : `version ${now}`} is, ` +
        `and nothing was rolled back; look at \`ringmaster models show ${model}\` and decide again`,
      { code: "ROLLBACK_OVERTAKEN", httpStatus: 409, details: { model, from, now } },
    );
  }
}

/** Too many changes of one model at the same moment. */
export class RegistryBusyError extends RingmasterError {
  constructor(model: string) {
    super(`model ${model} is being changed by others at this moment; send the request again`, {
      code: "REGISTRY_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { model },
    });
  }
}

/** Another version was promoted between the evaluation and the gates. The state machine evaluates again. */
export class ChampionChangedError extends RingmasterError {
  constructor(model: string, met: number | undefined, now: number) {
    const before = met === undefined ? "there was none" : `it was version ${met}`;
    super(
      `the champion of ${model} is version ${now}, but ${before} when the candidate was evaluated: evaluating again`,
      {
        code: "CHAMPION_CHANGED",
        httpStatus: 409,
        details: { model, met, now },
      },
    );
  }
}
