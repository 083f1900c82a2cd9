/**
 * An error for users. Each domain creates its errors in its `errors.ts`; the code tells them apart.
 *
 * The message says what was wrong, with which value, by which rule, and what to do next.
 */
export class RingmasterError extends Error {
  /** Stable, machine-readable: `DATASET_NOT_FOUND`. */
  readonly code: string;
  readonly httpStatus: number;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
  /** Structured evidence: the invalid values, all problems, … */
  readonly details: unknown;

  constructor(
    message: string,
    options: {
      readonly code: string;
      readonly httpStatus: number;
      readonly retryable?: boolean;
      readonly details?: unknown;
      readonly cause?: unknown;
    },
  ) {
    super(message, { cause: options.cause });
    this.name = options.code;
    this.code = options.code;
    this.httpStatus = options.httpStatus;
    this.retryable = options.retryable ?? false;
    this.details = options.details;
  }
}

export function hasCode(error: unknown, ...codes: readonly string[]): error is RingmasterError {
  return error instanceof RingmasterError && codes.includes(error.code);
}

const errorOf =
  (httpStatus: number, retryable = false) =>
  (code: string, message: string, details?: unknown, cause?: unknown): RingmasterError =>
    new RingmasterError(message, { code, httpStatus, retryable, details, cause });

export const badRequest = errorOf(400);
export const forbidden = errorOf(403);
export const notFound = errorOf(404);
export const conflict = errorOf(409);
export const tooLarge = errorOf(413);
/** Others use it at present; the same request may succeed later. */
export const busy = errorOf(503, true);

/** Other requests changed it before each attempt of this one. */
export const contended = (code: string, what: string, details: unknown): RingmasterError =>
  busy(code, `too many requests change ${what} at the same time; send the request again`, details);

/** One problem in a document that a person wrote: its place, its value, and the rule that it breaks. */
export interface Problem {
  /** Dotted path, e.g. `hyperparameters.learningRate`; empty for the whole document. */
  readonly path: string;
  /** The invalid value; absent if a value is missing. */
  readonly value?: unknown;
  readonly rule: string;
  /** 1-based line in the file, if known. */
  readonly line?: number;
}

export class InvalidInputError extends RingmasterError {
  declare readonly details: { readonly problems: readonly Problem[] };
  constructor(what: string, problems: readonly Problem[], cause?: unknown) {
    super(`${what}: ${problems.map(describeProblem).join("; ")}`, {
      code: "INVALID_INPUT",
      httpStatus: 400,
      details: { problems },
      cause,
    });
  }
}

/** Describes a problem in one line: `line 3: path is VALUE, but RULE`. */
export function describeProblem(problem: Problem): string {
  const at = problem.line === undefined ? "" : `line ${problem.line}: `;
  const value = problem.value === undefined ? "" : ` is ${shorten(JSON.stringify(problem.value))}, but`;
  return `${at}${problem.path || "(document)"}${value} ${problem.rule}`;
}

/** Shortens a value for a message. A binary file that is read as YAML is one long text. */
function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}… (${text.length} characters)`;
}
