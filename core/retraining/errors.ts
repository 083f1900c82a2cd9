import { RingmasterError } from "../errors";

export class RuleNotFoundError extends RingmasterError {
  constructor(name: string) {
    super(
      `there is no retraining rule ${JSON.stringify(name)}; \`ringmaster retrain list\` shows those that there are`,
      {
        code: "RETRAINING_RULE_NOT_FOUND",
        httpStatus: 404,
        details: { rule: name },
      },
    );
  }
}

/** The name is taken by a rule that says something else. */
export class RuleExistsError extends RingmasterError {
  constructor(name: string) {
    super(
      `there is a retraining rule ${name} that says something else; give another name, or change that one with \`ringmaster retrain on … --name ${name} --update\``,
      { code: "RETRAINING_RULE_EXISTS", httpStatus: 409, details: { rule: name } },
    );
  }
}

/** The rule changed while it was being changed. */
export class RuleBusyError extends RingmasterError {
  constructor(name: string) {
    super(`retraining rule ${name} is being changed by others at this moment; send the request again`, {
      code: "RETRAINING_RULE_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { rule: name },
    });
  }
}
