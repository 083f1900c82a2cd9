import { RingmasterError } from "../../errors";

/** There is no verdict that an answer could belong to. */
export class NotJudgedError extends RingmasterError {
  constructor(model: string, version: number) {
    super(
      `version ${version} of ${model} has not been judged: its checks are asked for by a verdict; \`ringmaster models judge ${model} ${version}\` gives one`,
      { code: "NOT_JUDGED", httpStatus: 409, details: { model, version } },
    );
  }
}

export class CheckNotFoundError extends RingmasterError {
  constructor(model: string, version: number | undefined, check: string, known: readonly string[]) {
    const where = version === undefined ? `the policy of ${model}` : `the verdict on version ${version} of ${model}`;
    const there = known.length === 0 ? "it asks for none" : `it asks for ${known.join(", ")}`;
    super(`${where} has no check ${JSON.stringify(check)}: ${there}`, {
      code: "CHECK_NOT_FOUND",
      httpStatus: 404,
      details: { model, version, check, known },
    });
  }
}

/** An HTTP check is answered by its hook, which proves itself by being asked; not by whoever may call the API. */
export class CheckAnsweredByHookError extends RingmasterError {
  constructor(model: string, check: string) {
    super(
      `check ${check} of ${model} is answered by its hook alone; \`ringmaster models judge\` asks it again where it has not answered`,
      { code: "CHECK_ANSWERED_BY_HOOK", httpStatus: 409, details: { model, check } },
    );
  }
}
