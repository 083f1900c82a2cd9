import * as fs from "node:fs";
import * as path from "node:path";
import { pipeline } from "node:stream/promises";
import type { Connection, FieldPacket } from "mysql2";
import type { SentColumn } from "../../../adapters/duckdb/sent-rows";
import { InvalidInputError, RingmasterError } from "../../../core/errors";
import { type DatabaseQuery, databaseProblem, type QueryRows, queryProblem } from "../database-query";

const connectTimeoutMs = 15_000;
const unsignedFlag = 32;
const binaryCharacterSet = 63;

/** DuckDB's types of MySQL's, signed and unsigned, by the names of the protocol. A `decimal` is text: it may have more digits than any number. */
const types: Readonly<Record<string, readonly [signed: string, unsigned?: string]>> = {
  TINY: ["TINYINT", "UTINYINT"],
  SHORT: ["SMALLINT", "USMALLINT"],
  INT24: ["INTEGER"],
  LONG: ["INTEGER", "UINTEGER"],
  LONGLONG: ["BIGINT", "UBIGINT"],
  YEAR: ["SMALLINT"],
  FLOAT: ["FLOAT"],
  DOUBLE: ["DOUBLE"],
  DATE: ["DATE"],
  NEWDATE: ["DATE"],
  DATETIME: ["TIMESTAMP"],
  TIMESTAMP: ["TIMESTAMP WITH TIME ZONE"],
  ...Object.fromEntries(["DECIMAL", "NEWDECIMAL", "ENUM", "SET", "JSON", "NULL"].map((name) => [name, ["VARCHAR"]])),
};
/** Texts, or bytes with the binary character set. */
const texts = ["VARCHAR", "VAR_STRING", "STRING", "TINY_BLOB", "MEDIUM_BLOB", "LONG_BLOB", "BLOB"];

/**
 * Streams the rows of a query from one read-only snapshot of a MySQL or MariaDB database to a Parquet file. The password is
 * that of `MYSQL_PWD` or of the URL.
 *
 * @throws InvalidInputError
 */
export async function readMysql({ from, sql }: DatabaseQuery, folder: string): Promise<QueryRows> {
  const csv = path.join(folder, "rows.csv");
  const connection = await connect(from);
  try {
    await run(connection, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    await run(connection, "SET time_zone = '+00:00'");
    await run(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    const { columns, rows } = await receive(connection, sql, csv);
    // DuckDB's library takes long to load.
    const { writeSentRows } = await import("../../../adapters/duckdb/sent-rows");
    return { file: await writeSentRows(csv, columns, rows, folder), rows };
  } catch (error) {
    throw problemOf(error, from, sql);
  } finally {
    connection.destroy();
  }
}

async function connect(from: string): Promise<Connection> {
  const { hostname, port, searchParams, user, secret, database } = partsOf(from);
  const mode = searchParams.get("ssl-mode") ?? "DISABLED";
  if (!/^(DISABLED|REQUIRED|VERIFY_CA|VERIFY_IDENTITY)$/i.test(mode)) {
    throw databaseProblem(from, "must have the ssl-mode DISABLED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY");
  }
  const { createConnection } = await import("mysql2");
  const connection = createConnection({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? 3_306 : Number(port),
    ...{ user, database, password: secret === "" ? (process.env["MYSQL_PWD"] ?? "") : secret },
    connectTimeout: connectTimeoutMs,
    ...(/^DISABLED$/i.test(mode) ? {} : { ssl: { verifyIdentity: true } }),
    // All digits of a value, as the server has them.
    ...{ supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, jsonStrings: true },
  });
  // An error event without a listener would end the process. `receive` reports a connection that is cut.
  connection.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    connection.connect((error) => (error ? reject(error) : resolve()));
  }).catch((error: unknown) => {
    connection.destroy();
    throw problemOf(error, from, "");
  });
  return connection;
}

/** Returns the parts of a URL, decoded. @throws InvalidInputError */
function partsOf(from: string) {
  try {
    const { hostname, port, searchParams, username, password, pathname } = new URL(from);
    const [user = "", secret = "", database = ""] = [username, password, pathname.slice(1)].map(decodeURIComponent);
    if (hostname !== "" && user !== "") return { hostname, port, searchParams, user, secret, database };
  } catch {
    // The parser's message may have the password.
  }
  throw databaseProblem(from, "must be a URL such as mysql://user@host:3306/database");
}

function run(connection: Connection, sql: string): Promise<void> {
  return new Promise((resolve, reject) => connection.query(sql, (error) => (error ? reject(error) : resolve())));
}

/** Writes the rows to a CSV file, where a value is quoted and NULL is not. */
async function receive(
  connection: Connection,
  sql: string,
  csv: string,
): Promise<{ readonly columns: readonly SentColumn[]; readonly rows: number }> {
  const { Types: typeNames } = await import("mysql2");
  let columns: readonly SentColumn[] | undefined;
  let rows = 0;
  // A prepared statement is one statement, and its numbers have all digits.
  const stream = connection.execute({ sql, rowsAsArray: true }).stream();
  // The library tells a stream nothing of a connection that is cut.
  connection.on("error", (error) => stream.destroy(error));
  stream.on("fields", (fields: readonly FieldPacket[] | undefined) => {
    try {
      columns = columnsOf(fields ?? [], sql, typeNames as unknown as Readonly<Record<number, string>>);
    } catch (error) {
      stream.destroy(error as Error);
    }
  });
  const lines = async function* (values: AsyncIterable<readonly unknown[]>) {
    for await (const row of values) {
      rows += 1;
      yield `${row.map((value) => (value === null ? "" : `"${String(value).replaceAll('"', '""')}"`)).join(",")}\n`;
    }
  };
  await pipeline(stream, lines, fs.createWriteStream(csv));
  if (columns === undefined) throw queryProblem(sql, "must be a SELECT, which returns columns");
  return { columns, rows };
}

/** @throws InvalidInputError with every column of another type */
function columnsOf(
  fields: readonly FieldPacket[],
  sql: string,
  typeNames: Readonly<Record<number, string>>,
): readonly SentColumn[] {
  if (fields.length === 0) throw queryProblem(sql, "must be a SELECT, which returns columns");
  const columns = fields.map(({ name, columnType = -1, flags, characterSet }) => {
    const found = typeNames[columnType] ?? String(columnType);
    const isText = texts.includes(found) && characterSet !== binaryCharacterSet;
    const [signed = "", unsigned = signed] = isText ? ["VARCHAR"] : (types[found] ?? []);
    return { name, type: (Number(flags) & unsignedFlag) === 0 ? signed : unsigned, found };
  });
  const problems = columns
    .filter(({ type }) => type === "")
    .map(({ name, found }) => ({
      path: `column ${name}`,
      value: found,
      rule: `must have another type: numbers, texts, dates, times with a date, enums and JSON are read; cast it in the query, such as CAST(${name} AS CHAR)`,
    }));
  if (problems.length > 0) throw new InvalidInputError("the query has columns that cannot be read", problems);
  return columns;
}

interface ServerError {
  readonly code?: string;
  readonly message: string;
  readonly sqlState?: string;
}

function problemOf(error: unknown, from: string, sql: string): unknown {
  if (error instanceof RingmasterError || !(error instanceof Error)) return error;
  const { code = "", message, sqlState = "" } = error as ServerError;
  if (code === "ENOSPC" || code === "EDQUOT") return error;
  if (/^28/.test(sqlState) || code === "ER_ACCESS_DENIED_ERROR") {
    return databaseProblem(from, `must accept the login: ${message}; set MYSQL_PWD, or use another user in the URL`);
  }
  if (code === "ER_BAD_DB_ERROR" || /^08/.test(sqlState)) return databaseProblem(from, `must be ready: ${message}`);
  if (/^ER_/.test(code) && sql !== "") return queryProblem(sql, message);
  return databaseProblem(from, `must be reachable: ${message || code}`);
}
