import * as z from "zod";
import { hidePassword } from "./database-url";
import { maxQueryLength } from "./shapes";

const text = z.string().min(1).max(4_096);

const described = z
  .strictObject({
    /** Files, folders, globs or URLs. */
    path: z.union([text, z.array(text).min(1).max(1_000)]).optional(),
    /** A database, whose rows the query selects. */
    from: text.optional(),
    sql: z.string().min(1).max(maxQueryLength).optional(),
    schema: text.optional(),
    label: text.optional(),
    missing: z.array(z.string().min(1).max(64)).max(100).optional(),
    size: z
      .string()
      .regex(/^[1-9]\d{0,4}x[1-9]\d{0,4}(x[13])?$/, "must be a size such as 32x32 or 32x32x3")
      .optional(),
    allowSchemaChange: z.boolean().optional(),
  })
  .superRefine(({ path, from, sql }, context) => {
    const refuse = (message: string, key: string, input?: unknown): void =>
      context.addIssue({ code: "custom", path: [key], message, input });
    if (path === undefined && from === undefined && sql === undefined) {
      refuse("is required: files or a URL; or from and sql for a query", "path");
    } else if (path !== undefined && (from !== undefined || sql !== undefined)) {
      refuse("must be left out where from and sql name a query", "path", path);
    } else if (path === undefined && from === undefined) refuse("is required: the database of the query", "from");
    else if (path === undefined && sql === undefined) refuse("is required: the query whose rows are read", "sql");
    if (from !== undefined && hidePassword(from) !== from) {
      const rule = "must have no password, because job files are recorded with their code; set PGPASSWORD instead";
      refuse(rule, "from", hidePassword(from));
    }
  });

/** The source of a job's data, as a job file names it: paths and URLs, or a mapping with the options of a push. */
export const dataSourceSchema = z.union([text, z.array(text).min(1).max(1_000), described]);

/** Data that becomes a dataset version before a job is submitted. */
export interface DataSource extends Omit<z.output<typeof described>, "path"> {
  readonly paths: readonly string[];
}

export function dataSourceOf(input: z.output<typeof dataSourceSchema>): DataSource {
  if (typeof input === "string" || Array.isArray(input)) return { paths: [input].flat() };
  const { path = [], ...options } = input;
  return { ...options, paths: [path].flat() };
}
