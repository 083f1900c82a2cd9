import type { Context } from "hono";
import * as z from "zod";
import { InvalidInputError, type Problem, RingmasterError } from "../../core/errors";
import { JsonLimitError, parseCounted } from "../../core/json-text";
import { pathText, problemsOf } from "../../core/problems";
import { isStorable, storedNumbers } from "../../core/shapes";
import type { ApiEnvironment } from "./context";
import { firstProblems, maxProblems } from "./first-problems";

/** Finds the parts of a body that no table could store. Schemas check only the members that they know. */
function unstorableParts(value: unknown): readonly Problem[] {
  const problems: Problem[] = [];
  visit(value, [], problems);
  return problems;
}

/** Changes one path in place, because a copy for each of 300,000 values would take most of the time. */
function visit(value: unknown, path: PropertyKey[], problems: Problem[]): void {
  if (problems.length >= maxProblems) return;
  if (typeof value === "number") {
    if (isStorable(value)) return;
    const { smallest, largest } = storedNumbers;
    const rule = `must be 0, or between ${smallest} and ${largest} in magnitude, which is the range of the database`;
    problems.push({ path: pathText(path), value: Number.isFinite(value) ? value : String(value), rule });
  } else if (typeof value === "string") {
    const problem = textProblem(value);
    if (problem !== undefined) problems.push({ path: pathText(path), value, rule: problem });
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i += 1) {
      path.push(i);
      visit(value[i], path, problems);
      path.pop();
    }
  } else if (value !== null && typeof value === "object") {
    for (const [key, member] of Object.entries(value)) {
      path.push(key);
      const problem = keyProblem(key);
      if (problem === undefined) visit(member, path, problems);
      else problems.push({ path: pathText(path), rule: problem });
      path.pop();
    }
  }
}

/** Returns the first text or key of an MLflow request that could not be stored unchanged. */
export function unstorableText(value: unknown): string | undefined {
  if (typeof value === "string") return textProblem(value);
  if (value === null || typeof value !== "object") return undefined;
  for (const [key, member] of Object.entries(value)) {
    const problem = keyProblem(key) ?? unstorableText(member);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * Returns why a text cannot be stored. In UTF-8, half of a surrogate pair becomes U+FFFD: two texts would become equal.
 */
function textProblem(text: string): string | undefined {
  return /\p{Surrogate}/u.test(text) ? "must be well-formed Unicode: it has an unpaired surrogate" : undefined;
}

/** Returns why a key cannot be stored. Maps that are converted to objects silently lose it. */
function keyProblem(key: string): string | undefined {
  return key === "__proto__" ? "must not be a key, because a JavaScript object cannot store it" : textProblem(key);
}

/** For a document with more values, the first problems are searched before its schema's parser runs. */
const manyValues = 2_000;

/** Parses the JSON body by its schema and reports all problems. An empty body is `{}`. */
export async function readBody<Schema extends z.ZodType>(
  context: Context<ApiEnvironment>,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = await context.req.text();
  if (text === "") return check(schema, {}, "the request body");
  const type = context.req.header("content-type");
  if (type !== undefined && !isJson(type)) {
    throw new RingmasterError(
      `the request body is ${JSON.stringify(type.slice(0, 100))}, but must be application/json: set the Content-Type header`,
      { code: "UNSUPPORTED_MEDIA_TYPE", httpStatus: 415, details: { contentType: type.slice(0, 100) } },
    );
  }
  const { body, values } = readJson(text, "the request body");
  return check(schema, body, "the request body", values);
}

/** @throws InvalidInputError if the text exceeds a limit, is not JSON, or could not be stored */
function readJson(text: string, what: string): { readonly body: unknown; readonly values: number } {
  let values: number;
  let body: unknown;
  try {
    ({ value: body, values } = parseCounted(text));
  } catch (cause) {
    const rule = cause instanceof JsonLimitError ? cause.rule : "must be JSON";
    throw new InvalidInputError(what, [{ path: "", rule }], cause);
  }
  const unstorable = unstorableParts(body);
  if (unstorable.length > 0) throw new InvalidInputError(what, unstorable);
  return { body, values };
}

export function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType);
}

/** Parameters of a URL's signature are for the gateway, not for the operation. */
const signature = /^x-amz-/i;

export function readQuery<Schema extends z.ZodType>(
  context: Context<ApiEnvironment>,
  schema: Schema,
): z.output<Schema> {
  const entries = Object.entries(context.req.queries()).filter(([name]) => !signature.test(name));
  const repeated = entries.filter(([, values]) => values.length > 1);
  if (repeated.length > 0) {
    const rule = "must be given once";
    throw new InvalidInputError(
      "the query",
      repeated.map(([path, value]) => ({ path, value, rule })),
    );
  }
  return check(schema, Object.fromEntries(entries.map(([name, [value]]) => [name, value])), "the query");
}

export function readParams<Schema extends z.ZodType>(
  context: Context<ApiEnvironment>,
  schema: Schema,
): z.output<Schema> {
  return check(schema, context.req.param(), "the path");
}

/** Reads only the headers in the schema, because there are always others. */
export function readHeaders<Schema extends z.ZodType>(
  context: Context<ApiEnvironment>,
  schema: Schema,
): z.output<Schema> {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const entries = names
    .map((name) => [name, context.req.header(name)] as const)
    .filter(([, value]) => value !== undefined);
  return check(schema, Object.fromEntries(entries), "the headers");
}

const idempotencyKey = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, "must be 1–255 printable ASCII characters")
  .optional();

export function readIdempotencyKey(context: Context<ApiEnvironment>): string | undefined {
  const schema = z.object({ "Idempotency-Key": idempotencyKey });
  return check(schema, { "Idempotency-Key": context.req.header("idempotency-key") }, "the headers")["Idempotency-Key"];
}

function check<Schema extends z.ZodType>(schema: Schema, input: unknown, what: string, values = 0): z.output<Schema> {
  const first = values > manyValues ? firstProblems(schema, input) : [];
  if (first.length > 0) throw new InvalidInputError(what, first);
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  // The parsed value (NaN for `abc`) differs from what the caller wrote.
  const written = (path: string): unknown => (input as Readonly<Record<string, unknown>> | null)?.[path];
  const problems = problemsOf(parsed.error).map((problem) =>
    Number.isNaN(problem.value) ? { ...problem, value: written(problem.path) } : problem,
  );
  throw new InvalidInputError(what, problems);
}
