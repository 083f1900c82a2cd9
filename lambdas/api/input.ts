import type { Context } from "hono";
import { z } from "zod";
import { InvalidInputError } from "../../core/errors";
import { problemsOf } from "../../core/problems";
import type { ApiEnvironment } from "./context";

/** Parses the JSON body by its schema; all problems at once. */
export async function readBody<Schema extends z.ZodType>(
  context: Context<ApiEnvironment>,
  schema: Schema,
): Promise<z.output<Schema>> {
  let body: unknown;
  try {
    body = await context.req.json();
  } catch (cause) {
    throw new InvalidInputError("the request body", [{ path: "", rule: "must be JSON" }], cause);
  }
  return check(schema, body, "the request body");
}

export function readQuery<Schema extends z.ZodType>(
  context: Context<ApiEnvironment>,
  schema: Schema,
): z.output<Schema> {
  return check(schema, context.req.query(), "the query");
}

export function readPath<Schema extends z.ZodType>(context: Context<ApiEnvironment>, schema: Schema): z.output<Schema> {
  return check(schema, context.req.param(), "the path");
}

/** A positive whole number in the path. */
export function readVersion(context: Context<ApiEnvironment>): number {
  const version = z.coerce.number().int().min(1).max(999_999_999);
  return readPath(context, z.object({ version })).version;
}

export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  nextToken: z.string().max(4_096).optional(),
});

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
