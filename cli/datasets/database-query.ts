import * as path from "node:path";
import { InvalidInputError } from "../../core/errors";

/** A query of a database, whose rows become a version. */
export interface DatabaseQuery {
  /** `postgres://…`, `athena://…`, or the path of a DuckDB or SQLite file. */
  readonly from: string;
  readonly sql: string;
}

/** The rows of a query in a file of the folder that the reader was given. */
export interface QueryRows {
  readonly file: string;
  readonly rows: number;
  /** The database's id of the execution, if it has one. */
  readonly execution?: string | undefined;
}

export function isDatabaseUrl(from: string): boolean {
  return /^[a-z]+:\/\//i.test(from);
}

/** Names a database in messages and records, without its user, password and parameters. */
export function nameOfDatabase(from: string): string {
  if (!isDatabaseUrl(from)) return path.basename(from);
  const [scheme = ""] = from.split(":");
  if (!URL.canParse(from)) return `${scheme}://`;
  const { host, pathname } = new URL(from);
  return `${scheme}://${host}${pathname}`.slice(0, 1_024);
}

/** A problem of a query, with its place in the text. */
export function queryProblem(sql: string, rule: string, position?: number): InvalidInputError {
  const before =
    position === undefined
      ? undefined
      : Array.from(sql)
          .slice(0, position - 1)
          .join("");
  const lines = before?.split("\n");
  const at = lines ? `line ${lines.length}, column ${lines.at(-1)!.length + 1}: ` : "";
  return new InvalidInputError("the query cannot be run", [{ path: "--sql", rule: `${at}${rule}` }]);
}

/** A problem of the database that `--from` names. */
export function databaseProblem(from: string, rule: string): InvalidInputError {
  return new InvalidInputError("the database cannot be read", [{ path: "--from", value: nameOfDatabase(from), rule }]);
}
