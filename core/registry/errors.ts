import { RingmasterError } from "../errors";
import type { Decision } from "./approvals";
import type { GateVerdict } from "./gates/verdict";
import type { ApprovalsWithdrawn, ModelVersion } from "./model";
import type { ApprovalRules } from "./policy";

type Named = Pick<ModelVersion, "model" | "version">;

export class ModelNotFoundError extends RingmasterError {
  /** @param renamedTo what it is called now */
  constructor(name: string, renamedTo?: string) {
    const next =
      renamedTo === undefined
        ? "`ringmaster models list` shows those that there are"
        : `it was renamed ${JSON.stringify(renamedTo)}`;
    super(`there is no model ${JSON.stringify(name)}; ${next}`, {
      code: "MODEL_NOT_FOUND",
      httpStatus: 404,
      details: { model: name, renamedTo },
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
        : `version ${version} of ${model} has no gate verdict yet: evaluate it first: ringmaster models judge ${model} ${version}`,
      { code: "GATE_NOT_PASSED", httpStatus: 409, details: { model, version, failed } },
    );
  }
}

export class NotApprovedError extends RingmasterError {
  constructor(
    { model, version, approvalsWithdrawn }: Named & Pick<ModelVersion, "approvalsWithdrawn">,
    decision: Decision,
  ) {
    super(
      decision.state !== "waiting"
        ? `version ${version} of ${model} was rejected by ${decision.word.by}: it cannot be promoted; train a new version`
        : `version ${version} of ${model} has ${decision.given} of ${decision.required} approvals${approvalsWithdrawn ? ` (${withdrawal(approvalsWithdrawn)})` : ""}: it cannot be promoted; \`ringmaster models approve ${model} ${version}\` approves it`,
      { code: "NOT_APPROVED", httpStatus: 409, details: { model, version } },
    );
  }
}

const withdrawnBecause: Readonly<Record<ApprovalsWithdrawn["after"], string>> = {
  "rolled-back": "the version was rolled back",
  "canary-ended": "the canary was ended",
  "evaluated-again": "the gates evaluated the version again",
};

/** Says whose approvals no longer count, and why: a sentence without its full stop. */
export function withdrawal({ after, of = [], revision, by, reason }: ApprovalsWithdrawn): string {
  const whose = of.length === 0 ? "earlier approvals" : `approval${of.length > 1 ? "s" : ""} of ${of.join(", ")}`;
  const why = `${withdrawnBecause[after]} (revision ${revision}, by ${by})`;
  return `${whose} withdrawn: ${why}${reason === undefined ? "" : `: ${reason}`}`;
}

/** What a test is to decide is not decided beside it. */
export class CanaryUnderTestError extends RingmasterError {
  constructor({ model, version }: Named) {
    super(
      `version ${version} of ${model} is a canary under test: its test decides whether it is promoted; ` +
        `\`ringmaster models traffic decide ${model}\` carries out what that says, \`ringmaster models traffic set ${model}\` without it or without a test ends it first`,
      { code: "CANARY_UNDER_TEST", httpStatus: 409, details: { model, version } },
    );
  }
}

/** The policy names who may approve, and it is not this one. */
export class NotAnApproverError extends RingmasterError {
  constructor(
    { model, version, submittedBy }: Named & Pick<ModelVersion, "submittedBy">,
    by: string,
    rules: ApprovalRules,
  ) {
    const { approvers } = rules;
    super(
      by === submittedBy && rules.notTheSubmitter
        ? `${by} submitted version ${version} of ${model}: its policy asks for the word of somebody else`
        : `${by} may not decide on version ${version} of ${model}: its policy names ${approvers.join(", ")}`,
      { code: "NOT_AN_APPROVER", httpStatus: 403, details: { model, version, by, approvers } },
    );
  }
}

/** The verdict is about another champion, or other rules, than those of now. */
export class GateOutdatedError extends RingmasterError {
  /** @param runId the run that evaluates the version again, where one does */
  constructor(
    { model, version }: Named,
    readonly changed: "champion" | "policy",
    production: number | undefined,
    runId?: string,
  ) {
    const why =
      changed === "policy"
        ? "the model's policy has changed since"
        : production === undefined
          ? "the champion that it was compared with is no longer in production"
          : `version ${production} is in production now, and it was not compared with that`;
    const next =
      runId === undefined
        ? `evaluate it again: ringmaster models judge ${model} ${version}`
        : `its run evaluates it again, approve it after that: ringmaster runs watch ${runId}`;
    super(`the gate verdict on version ${version} of ${model} is outdated: ${why}; ${next}`, {
      code: "GATE_OUTDATED",
      httpStatus: 409,
      details: { model, version, changed, production, ...(runId === undefined ? {} : { runId }) },
    });
  }
}

/** The champion leaves production by the promotion of another, or by a rollback, and by nothing else. */
export class InProductionError extends RingmasterError {
  constructor(model: string, version: number) {
    super(
      `version ${version} of ${model} is in production and stays there until another is promoted (\`ringmaster models promote\`) or it is rolled back`,
      { code: "IN_PRODUCTION", httpStatus: 409, details: { model, version } },
    );
  }
}

export class ModelExistsError extends RingmasterError {
  constructor(model: string) {
    super(`there is a model ${JSON.stringify(model)} already; \`ringmaster models show\` shows it`, {
      code: "MODEL_EXISTS",
      httpStatus: 409,
      details: { model },
    });
  }
}

/** Runs, rules, events and whoever serves know a model by its name. */
export class ModelNameFixedError extends RingmasterError {
  /** @param why a sentence's part */
  constructor(model: string, why: string) {
    super(
      `model ${JSON.stringify(model)} cannot be renamed: ${why}; versions of it can be registered under another name instead`,
      { code: "MODEL_NAME_FIXED", httpStatus: 409, details: { model } },
    );
  }
}

export class AliasNotFoundError extends RingmasterError {
  constructor(model: string, alias: string) {
    super(`model ${model} has no alias ${alias}; \`ringmaster models show ${model}\` lists those that it has`, {
      code: "ALIAS_NOT_FOUND",
      httpStatus: 404,
      details: { model, alias },
    });
  }
}

export class AliasFollowsProductionError extends RingmasterError {
  constructor(model: string, production: number) {
    super(
      `champion of ${model} is version ${production}, because that is in production: the alias moves by promotions and rollbacks alone`,
      { code: "ALIAS_FOLLOWS_PRODUCTION", httpStatus: 409, details: { model, production } },
    );
  }
}

export class SemverTakenError extends RingmasterError {
  constructor(
    { model, version, semver }: Named & Pick<ModelVersion, "semver">,
    wanted: string,
    owner: number | undefined,
  ) {
    super(
      semver === undefined
        ? `${wanted} is version ${owner} of ${model} for good: give version ${version} another one`
        : `version ${version} of ${model} is ${semver} for good, and cannot become ${wanted}: others may have pinned it`,
      { code: "SEMVER_TAKEN", httpStatus: 409, details: { model, version, semver: wanted, owner } },
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

/** Neither the table nor the bucket can tell what serves. */
export class RegistryUnavailableError extends RingmasterError {
  constructor(model: string, cause: unknown) {
    super(
      `the registry does not answer at this moment, and the bucket knows no champion of ${model}: send the request again`,
      { code: "REGISTRY_UNAVAILABLE", httpStatus: 503, retryable: true, details: { model }, cause },
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
