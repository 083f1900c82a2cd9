import type { Context } from "hono";
import * as z from "zod";
import { InvalidInputError, RingmasterError } from "../../core/errors";
import { JsonLimitError, parseCounted } from "../../core/json-text";
import { problemsOf } from "../../core/problems";
import type { ApiEnvironment } from "./context";
import { firstProblems } from "./first-problems";
import { unstorableParts } from "./storable";

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
  const given = Object.entries(context.req.queries()).filter(([name]) => !signature.test(name));
  const repeated = given.filter(([, values]) => values.length > 1);
  if (repeated.length > 0) {
    const rule = "must be given once";
    throw new InvalidInputError(
      "the query",
      repeated.map(([path, value]) => ({ path, value, rule })),
    );
  }
  return check(schema, Object.fromEntries(given.map(([name, [value]]) => [name, value])), "the query");
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
  const given = names
    .map((name) => [name, context.req.header(name)] as const)
    .filter(([, value]) => value !== undefined);
  return check(schema, Object.fromEntries(given), "the headers");
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
