import { InvalidInputError, type Problem, RingmasterError } from "../../errors";

/** Where in a filter or an order something is wrong: `position` counts characters from 1. */
export interface SearchProblem {
  readonly position: number;
  /** What stands there; empty at the end. */
  readonly token: string;
  readonly rule: string;
  /** What was probably meant. */
  readonly suggestion?: string;
}

/** A filter or an order of ours that breaks the language. */
export class SearchSyntaxError extends InvalidInputError {
  readonly problem: SearchProblem;
  constructor(path: "filter" | "orderBy", problem: SearchProblem) {
    const hint = problem.suggestion === undefined ? "" : `; ${problem.suggestion}`;
    const found: Problem = {
      path: `${path} at character ${problem.position}`,
      ...(problem.token === "" ? {} : { value: problem.token }),
      rule: `${problem.token === "" ? "ends too early: " : ""}${problem.rule}${hint}`,
    };
    super("the search cannot be understood", [found]);
    this.problem = problem;
    Object.assign(this.details, { search: problem });
  }
}

/** Refused as MLflow refuses it, in its words: what its clients' users find when they look the message up. */
export class MlflowFilterError extends RingmasterError {
  constructor(message: string) {
    super(message, {
      code: "INVALID_INPUT",
      httpStatus: 400,
      details: { problems: [{ path: "filter", rule: message }] },
    });
  }
}

/** The same short name means several params (or metrics) of one run. */
export class AmbiguousNameError extends InvalidInputError {
  constructor(kind: "params" | "metrics", name: string, candidates: readonly string[], runId: string) {
    super("the search cannot be understood", [
      {
        path: `${kind}.${name}`,
        rule:
          `means several ${kind} of run ${runId}: ${candidates.map((one) => `\`${one}\``).join(", ")}; ` +
          `write one of them whole: ${kind}.\`${candidates[0]}\``,
      },
    ]);
  }
}

/** The token is of another query, or none of ours. */
export class PageTokenError extends InvalidInputError {
  constructor(rule: string) {
    super("the page cannot be found", [{ path: "pageToken", rule: `${rule}; search anew without it` }]);
  }
}
