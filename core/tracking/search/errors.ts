import { InvalidInputError, type Problem } from "../../errors";

/** The place of an error in a filter or an order: `position` counts characters from 1. */
export interface SearchProblem {
  readonly position: number;
  /** The text at the position; empty at the end. */
  readonly token: string;
  readonly rule: string;
  /** A suggestion of what was probably meant. */
  readonly suggestion?: string;
}

/** The invalid member of a request; `order_by` is MLflow's. */
export type SearchPath = "filter" | "orderBy" | "order_by";

/** A line of the source, and a line that marks the error, for a monospaced font. */
export interface Excerpt {
  readonly line: string;
  readonly marks: string;
}

export class SearchSyntaxError extends InvalidInputError {
  readonly problem: SearchProblem;
  declare readonly details: {
    readonly problems: readonly Problem[];
    readonly search: SearchProblem & { readonly excerpt?: Excerpt };
  };
  constructor(path: SearchPath, problem: SearchProblem) {
    const hint = problem.suggestion === undefined ? "" : `; ${problem.suggestion}`;
    const finding: Problem = {
      path: `${path} at character ${problem.position}`,
      ...(problem.token === "" ? {} : { value: problem.token }),
      rule: `${problem.token === "" ? "ends too early: " : ""}${problem.rule}${hint}`,
    };
    super("the search is not valid", [finding]);
    this.problem = problem;
    Object.assign(this.details, { search: problem });
  }

  /** Adds the excerpt around the error. */
  pointInto(source: string): void {
    Object.assign(this.details, { search: { ...this.problem, excerpt: excerptOf(source, this.problem) } });
  }
}

/** @throws SearchSyntaxError about the text at a place */
export function refuseAt(
  path: SearchPath,
  { position, raw }: { readonly position: number; readonly raw: string },
  rule: string,
  suggestion?: string,
): never {
  throw new SearchSyntaxError(path, { position, token: raw, rule, suggestion });
}

/** Runs an action; its syntax errors get an excerpt of the source. */
export function pointingInto<Result>(source: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof SearchSyntaxError) error.pointInto(source);
    throw error;
  }
}

const excerptWidth = 72;
const excerptBefore = 40;

export function excerptOf(source: string, { position, token }: Pick<SearchProblem, "position" | "token">): Excerpt {
  const at = Math.min(position - 1, source.length);
  const start =
    source.length <= excerptWidth ? 0 : Math.max(0, Math.min(at - excerptBefore, source.length - excerptWidth + 2));
  const cutBefore = start > 0 ? "… " : "";
  const cutAfter = source.length > start + excerptWidth ? " …" : "";
  // Line breaks and tabs would shift the marks.
  const line = source.slice(start, start + excerptWidth).replaceAll(/\s/g, " ");
  const length = Math.max(1, Math.min(token.length, start + excerptWidth - at));
  return { line: cutBefore + line + cutAfter, marks: " ".repeat(cutBefore.length + at - start) + "^".repeat(length) };
}

export class AmbiguousNameError extends InvalidInputError {
  constructor(kind: "params" | "metrics", name: string, candidates: readonly string[], runId: string) {
    super("the search is not valid", [
      {
        path: `${kind}.${name}`,
        rule:
          `matches several ${kind} of run ${runId}: ${candidates.map((one) => `\`${one}\``).join(", ")}; ` +
          `write the full name: ${kind}.\`${candidates[0]}\``,
      },
    ]);
  }
}

export class PageTokenError extends InvalidInputError {
  constructor(rule: string) {
    super("the page cannot be found", [{ path: "pageToken", rule: `${rule}; search again without it` }]);
  }
}
