import * as fs from "node:fs";
import { makeTemporaryFolder } from "../../adapters/duckdb/temporary-folder";
import { emptyDataset } from "../../core/datasets/errors";
import { maxQueryLength, type SourceFile } from "../../core/datasets/shapes";
import { InvalidInputError, type Problem, RingmasterError } from "../../core/errors";
import { type DatabaseQuery, nameOfDatabase, type QueryRows } from "./database-query";
import type { PushTarget } from "./push";
import { renamedError } from "./renamed-error";

/** Facts about a query that its version records. */
export type QueryOrigin = Pick<SourceFile, "file" | "query" | "execution">;

/** Runs a query and writes its rows to a file in the folder. @throws InvalidInputError */
type QueryReader = (query: DatabaseQuery, folder: string, onSource: (text: string) => void) => Promise<QueryRows>;

interface DatabaseKind {
  matches(from: string): boolean;
  /** Loads the reader, and the client of its database. */
  load(): Promise<QueryReader>;
}

const kinds: readonly DatabaseKind[] = [
  {
    matches: (from) => /^postgres(ql)?:\/\//i.test(from),
    load: async () => (await import("./databases/postgres")).readPostgres,
  },
  {
    matches: (from) => /^(mysql|mariadb):\/\//i.test(from),
    load: async () => (await import("./databases/mysql")).readMysql,
  },
  {
    matches: (from) => /^athena:\/\//i.test(from),
    load: async () => (await import("./databases/athena")).readAthena,
  },
  {
    matches: (from) => /\.(duckdb|ddb)$/i.test(from),
    load: async () => (await import("./databases/duckdb")).readDuckDbFile,
  },
  {
    matches: (from) => /\.(sqlite3?|db)$/i.test(from),
    load: async () => (await import("./databases/sqlite")).readSqlite,
  },
];

/**
 * Returns the dataset and the query of `push NAME --from DATABASE --sql QUERY`; `undefined` if neither option is given.
 *
 * @throws InvalidInputError if one of them is missing, or files are named, too
 */
export function queryTarget(
  [name = "", ...more]: readonly string[],
  files: readonly string[],
  { from, sql }: Partial<DatabaseQuery>,
): (PushTarget & { readonly query: DatabaseQuery }) | undefined {
  if (from === undefined && sql === undefined) return undefined;
  const problems: Problem[] = [];
  if (from === undefined) problems.push({ path: "--from", rule: "is required: the database of the query" });
  if (sql === undefined) problems.push({ path: "--sql", rule: "is required: the query whose rows are read" });
  const [file] = [...more, ...files];
  if (file !== undefined) {
    problems.push({ path: "source", value: file, rule: "must be left out where --from names the database" });
  }
  if (problems.length > 0) throw new InvalidInputError("the dataset cannot be pushed", problems);
  return { name, sources: [], schemaFile: `${name}.schema.yaml`, query: { from: from!, sql: sql! } };
}

/**
 * Writes the rows of a query to a temporary folder while `work` runs. Errors name the database.
 *
 * @throws InvalidInputError, EMPTY_DATASET, and the errors of `work`
 */
export async function withQueryRows<Result>(
  query: DatabaseQuery,
  onSource: (text: string) => void,
  work: (files: readonly string[], origin: QueryOrigin) => Promise<Result>,
): Promise<Result> {
  const name = nameOfDatabase(query.from);
  const kind = kinds.find(({ matches }) => matches(query.from));
  if (!kind) {
    const rule =
      "must be postgres://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE, athena://DATABASE, or a file .duckdb, .sqlite or .db";
    throw new InvalidInputError("the query cannot be run", [{ path: "--from", value: name, rule }]);
  }
  if (query.sql.length > maxQueryLength) {
    const rule = `must have at most ${maxQueryLength} characters; make a view in the database`;
    throw new InvalidInputError("the query cannot be run", [{ path: "--sql", value: query.sql.length, rule }]);
  }
  const folder = makeTemporaryFolder("query");
  try {
    onSource(`reading ${name}`);
    const read = await kind.load();
    const { file, rows, execution } = await read(query, folder, onSource);
    if (rows === 0) throw emptyDataset(`the query of ${name}`);
    const origin = { file: name, query: query.sql, execution };
    return await work([file], origin);
  } catch (error) {
    if (!(error instanceof RingmasterError)) throw error;
    throw renamedError(error, (text) => {
      const [before = "", ...mentions] = text.split(folder);
      return [before, ...mentions.map((rest) => rest.replace(/^[\\/][\w.-]+/, ""))].join(name);
    });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
