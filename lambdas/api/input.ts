import type { Context } from "hono";
import { z } from "zod";
import { InvalidInputError, RingmasterError } from "../../core/errors";
import { problemsOf } from "../../core/problems";
import type { ApiEnvironment } from "./context";
import { unstorableParts } from "./storable";

/**
 * Deeper JSON is refused: what is kept of a body becomes a map in a DynamoDB item, which may be 32 levels deep, some of them ours; and a
 * stack overflow must be nobody's to cause.
 */
const maxDepth = 24;

/** Parses the JSON body by its schema; all problems at once. An empty body is `{}`. */
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
  if (depthOf(text) > maxDepth) {
    throw new InvalidInputError("the request body", [{ path: "", rule: `must be at most ${maxDepth} levels deep` }]);
  }
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new InvalidInputError("the request body", [{ path: "", rule: "must be JSON" }], cause);
  }
  const unstorable = unstorableParts(body);
  if (unstorable.length > 0) throw new InvalidInputError("the request body", unstorable);
  return check(schema, body, "the request body");
}

export function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType);
}

/** What signs a URL belongs to the gateway, not to the operation. */
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

/** Only the headers that the schema names: there are always others. */
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

function check<Schema extends z.ZodType>(schema: Schema, input: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  // What a text was read as (`abc` as NaN) is not what the caller wrote.
  const written = (path: string): unknown => (input as Readonly<Record<string, unknown>> | null)?.[path];
  const problems = problemsOf(parsed.error).map((problem) =>
    Number.isNaN(problem.value) ? { ...problem, value: written(problem.path) } : problem,
  );
  throw new InvalidInputError(what, problems);
}

/** Of brackets outside texts; right for JSON, and found without recursion. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inText = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (inText) {
      if (char === "\\") i += 1;
      else if (char === '"') inText = false;
    } else if (char === '"') inText = true;
    else if (char === "{" || char === "[") deepest = Math.max(deepest, ++depth);
    else if (char === "}" || char === "]") depth -= 1;
  }
  return deepest;
}
