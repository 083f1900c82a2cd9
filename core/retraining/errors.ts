import { RingmasterError } from "../errors";

export class RuleNotFoundError extends RingmasterError {
  constructor(name: string) {
    super(`there is no retraining rule ${JSON.stringify(name)}; \`ringmaster retrain list\` shows the rules`, {
      code: "RETRAINING_RULE_NOT_FOUND",
      httpStatus: 404,
      details: { rule: name },
    });
  }
}

/** Thrown when a rule of that name has another definition. */
export class RuleExistsError extends RingmasterError {
  constructor(name: string) {
    super(
      `retraining rule ${name} already exists with other settings; choose another name, or change the rule with \`ringmaster retrain on … --name ${name} --update\``,
      { code: "RETRAINING_RULE_EXISTS", httpStatus: 409, details: { rule: name } },
    );
  }
}

/** Thrown when other requests changed the rule before each attempt. */
export class RuleBusyError extends RingmasterError {
  constructor(name: string) {
    super(`too many requests change retraining rule ${name} at the same time; send the request again`, {
      code: "RETRAINING_RULE_BUSY",
      httpStatus: 503,
      retryable: true,
      details: { rule: name },
    });
  }
}
