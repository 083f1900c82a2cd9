import { RingmasterError } from "../../errors";

/** Thrown when a check is answered before there is a verdict. */
export class NotJudgedError extends RingmasterError {
  constructor(model: string, version: number) {
    super(
      `version ${version} of ${model} has no gate verdict yet, so its checks cannot be answered; evaluate it first: ringmaster models judge ${model} ${version}`,
      { code: "NOT_JUDGED", httpStatus: 409, details: { model, version } },
    );
  }
}

export class CheckNotFoundError extends RingmasterError {
  constructor(model: string, version: number | undefined, check: string, known: readonly string[]) {
    const where = version === undefined ? `the policy of ${model}` : `the verdict on version ${version} of ${model}`;
    const there = known.length === 0 ? "it has no checks" : `its checks are ${known.join(", ")}`;
    super(`${where} has no check ${JSON.stringify(check)}: ${there}`, {
      code: "CHECK_NOT_FOUND",
      httpStatus: 404,
      details: { model, version, check, known },
    });
  }
}

/** Thrown when an API request answers an HTTP check. Only the check's own hook can answer it. */
export class CheckAnsweredByHookError extends RingmasterError {
  constructor(model: string, check: string) {
    super(
      `check ${check} of ${model} is an HTTP check, which only its webhook answers; \`ringmaster models judge\` calls the webhook again while the check is pending`,
      { code: "CHECK_ANSWERED_BY_HOOK", httpStatus: 409, details: { model, check } },
    );
  }
}
