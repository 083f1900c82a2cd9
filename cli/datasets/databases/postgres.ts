import * as fs from "node:fs";
import * as path from "node:path";
import { pipeline } from "node:stream/promises";
import { Client, type Connection, type FieldDef, type Submittable } from "pg";
import { to as copyTo } from "pg-copy-streams";
import type { SentColumn } from "../../../adapters/duckdb/sent-rows";
import { InvalidInputError } from "../../../core/errors";
import { type DatabaseQuery, databaseProblem, type QueryRows, queryProblem } from "../database-query";

const connectTimeoutMs = 15_000;

/** DuckDB's types of PostgreSQL's; other types of text are listed below. */
const types: Readonly<Record<string, string>> = {
  bool: "BOOLEAN",
  int2: "SMALLINT",
  int4: "INTEGER",
  int8: "BIGINT",
  float4: "FLOAT",
  float8: "DOUBLE",
  date: "DATE",
  timestamp: "TIMESTAMP",
  timestamptz: "TIMESTAMP WITH TIME ZONE",
};
/** Types that are read as text. A `numeric` may have more digits than any number; casts check them. */
const texts = ["numeric", "text", "varchar", "bpchar", "char", "name", "citext", "uuid", "json", "jsonb", "vector"];
const lists = ["int2", "int4", "int8", "float4", "float8", "numeric"];

/** Settings that make the text of values independent of the server's and the user's. */
const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SET LOCAL client_encoding TO 'UTF8'; SET LOCAL datestyle TO 'ISO, YMD'; SET LOCAL timezone TO 'UTC';
SET LOCAL extra_float_digits TO 3`;

/**
 * Streams the rows of a query from one read-only snapshot of a PostgreSQL database to a Parquet file. The password is
 * that of the URL, of `PGPASSWORD` or of `~/.pgpass`.
 *
 * @throws InvalidInputError
 */
export async function readPostgres({ from, sql }: DatabaseQuery, folder: string): Promise<QueryRows> {
  const csv = path.join(folder, "rows.csv");
  const { columns, rows } = await receive(from, sql, csv);
  // DuckDB's library takes long to load.
  const { writeSentRows } = await import("../../../adapters/duckdb/sent-rows");
  return { file: await writeSentRows(csv, columns, rows, folder), rows };
}

/** Writes the rows to a CSV file. */
async function receive(
  from: string,
  sql: string,
  csv: string,
): Promise<{ readonly columns: readonly SentColumn[]; readonly rows: number }> {
  const client = await connect(from);
  try {
    await client.query(begin);
    const columns = await describe(client, sql);
    const rows = await copy(client, sql, csv);
    await client.query("COMMIT");
    return { columns, rows };
  } catch (error) {
    throw problemOf(error, from, sql);
  } finally {
    // An error of a connection that is gone does not hide the first one.
    await client.end().catch(() => undefined);
  }
}

async function connect(from: string): Promise<Client> {
  let client: Client;
  try {
    client = new Client({
      // The library treats these modes alike, and warns of it.
      connectionString: from.replace(/([?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/, "$1verify-full"),
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: "ringmaster",
      keepAlive: true,
    });
  } catch {
    // The parser's message may have the password.
    throw databaseProblem(from, "must be a URL such as postgres://user@host:5432/database");
  }
  // A connection that is cut rejects the query, too.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw problemOf(error, from, "");
  }
}

/** Describes a query without running it. The protocol accepts one statement only. */
class Description implements Submittable {
  private found: readonly FieldDef[] = [];

  private constructor(
    private readonly sql: string,
    private readonly resolve: (fields: readonly FieldDef[]) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  /** Returns the columns; none for a statement without a result. */
  static of(client: Client, sql: string): Promise<readonly FieldDef[]> {
    return new Promise((resolve, reject) => client.query(new Description(sql, resolve, reject)));
  }

  submit(connection: Connection): void {
    connection.parse({ name: "", text: this.sql, types: [] }, true);
    connection.describe({ type: "S", name: "" }, true);
    connection.sync();
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.found = fields;
  }

  handleError(error: Error): void {
    this.reject(error);
  }

  handleReadyForQuery(): void {
    this.resolve(this.found);
  }
}

/** @throws InvalidInputError with every column of another type, or PostgreSQL's error */
async function describe(client: Client, sql: string): Promise<readonly SentColumn[]> {
  const fields = await Description.of(client, sql);
  if (fields.length === 0) throw queryProblem(sql, "must be a SELECT, which returns columns");
  const { rows } = await client.query<{ oid: number; name: string; kind: string; element: string | null }>(
    `SELECT type.oid::int4 AS oid, type.typname AS name, type.typtype AS kind, element.typname AS element
     FROM pg_catalog.pg_type AS type LEFT JOIN pg_catalog.pg_type AS element
       ON type.typcategory = 'A' AND element.oid = type.typelem
     WHERE type.oid = ANY($1::oid[])`,
    [fields.map(({ dataTypeID }) => dataTypeID)],
  );
  const known = new Map(rows.map((row) => [row.oid, row]));
  const columns = fields.map(({ name, dataTypeID }): SentColumn & { readonly found: string } => {
    const type = known.get(dataTypeID);
    const found = type?.element ? `${type.element}[]` : (type?.name ?? String(dataTypeID));
    const isList = lists.includes(type?.element ?? "");
    if (isList) return { name, type: "list", found };
    const isText = type?.kind === "e" || texts.includes(type?.name ?? "");
    return { name, type: isText ? "VARCHAR" : (types[type?.name ?? ""] ?? ""), found };
  });
  const problems = columns
    .filter(({ type }) => type === "")
    .map(({ name, found }) => ({
      path: `column ${name}`,
      value: found,
      rule: `must have another type: numbers, booleans, texts, dates, timestamps, enums and arrays of numbers are read; cast it in the query, such as ${JSON.stringify(name)}::text`,
    }));
  if (problems.length > 0) throw new InvalidInputError("the query has columns that cannot be read", problems);
  return columns;
}

/** Writes the rows as CSV, where a value is quoted and NULL is not. Returns their number. */
async function copy(client: Client, sql: string, file: string): Promise<number> {
  const query = sql.replace(/[;\s]+$/, "");
  // The query is one statement, so its brackets are closed. A comment at its end needs the new line.
  const stream = client.query(copyTo(`COPY (${query}\n) TO STDOUT (FORMAT csv, FORCE_QUOTE *, ENCODING 'UTF8')`));
  await pipeline(stream, fs.createWriteStream(file));
  return stream.rowCount;
}

interface ServerError {
  readonly code?: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly position?: string;
  readonly errors?: readonly Error[];
}

function problemOf(error: unknown, from: string, sql: string): unknown {
  if (error instanceof InvalidInputError || !(error instanceof Error)) return error;
  const { code = "", message, detail, hint, position, errors } = error as ServerError;
  if (code === "ENOSPC" || code === "EDQUOT") return error;
  const text = [message || (errors?.[0]?.message ?? code), detail, hint].filter(Boolean).join("; ");
  if (/^28|password must be a string/.test(`${code}${message}`)) {
    return databaseProblem(from, `must accept the login: ${text}; set PGPASSWORD, or use another user in the URL`);
  }
  if (/^(08|3D|53|57P)/.test(code)) return databaseProblem(from, `must be ready: ${text}`);
  // Errors of the server have a code of five characters, those of the operating system another one.
  if (/^[0-9A-Z]{5}$/.test(code)) return queryProblem(sql, text, position === undefined ? undefined : Number(position));
  return databaseProblem(from, `must be reachable: ${text}`);
}
