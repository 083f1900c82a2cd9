import * as fs from "node:fs";
import { open } from "node:fs/promises";
import * as path from "node:path";
import type { Database, Statement } from "node-sqlite3-wasm";
import { problemOfNames } from "../../../adapters/duckdb/formats/csv-header";
import { RingmasterError } from "../../../core/errors";
import { type DatabaseQuery, databaseProblem, type QueryRows, queryProblem } from "../database-query";

const flushedLength = 1024 * 1024;

/**
 * Writes the rows of a query of an SQLite file as JSON lines, because a column of SQLite has no type: numbers and texts are
 * distinguished when the rows are read by the schema.
 *
 * @throws InvalidInputError
 */
export async function readSqlite({ from, sql }: DatabaseQuery, folder: string): Promise<QueryRows> {
  if (!fs.statSync(from, { throwIfNoEntry: false })?.isFile())
    throw databaseProblem(from, "must be a file that exists");
  for (const journal of [`${from}-wal`, `${from}-journal`]) {
    if (!fs.statSync(journal, { throwIfNoEntry: false })?.size) continue;
    throw databaseProblem(from, `has changes in ${journal}; close the programs that use it`);
  }
  // Other statements could attach files, or never end.
  if (!/^\s*(--[^\n]*\n\s*)*(SELECT|WITH|VALUES)\b/i.test(sql)) throw queryProblem(sql, "must be one SELECT");
  // Loaded by those who read SQLite files.
  const { Database } = await import("node-sqlite3-wasm");
  let database: Database | undefined;
  try {
    // The library locks a file by a folder next to its name. The link's is in our folder, so that none is left behind.
    const link = path.join(folder, "database.sqlite");
    fs.symlinkSync(path.resolve(from), link);
    database = new Database(link, { readOnly: true, fileMustExist: true });
    database.all("SELECT count(*) FROM sqlite_master");
  } catch (error) {
    database?.close();
    throw databaseProblem(from, `must be an SQLite database that can be opened: ${(error as Error).message}`);
  }
  try {
    const file = path.join(folder, "rows.ndjson");
    const statement = database.prepare(sql);
    assertOne(database, sql);
    return { file, rows: await write(statement, file, sql) };
  } catch (error) {
    if (error instanceof RingmasterError || (error as NodeJS.ErrnoException).code === "ENOSPC") throw error;
    throw queryProblem(sql, (error as Error).message);
  } finally {
    // Finalizes the statement, too, whose own method would throw the query's error again.
    database.close();
  }
}

/** Refuses a second statement, which the library would omit: no subquery has one. */
function assertOne(database: Database, sql: string): void {
  try {
    database.prepare(`SELECT 1 FROM (${sql.replace(/;(\s|--[^\n]*)*$/, "")}\n)`).finalize();
  } catch (cause) {
    throw queryProblem(sql, `must be one SELECT: ${(cause as Error).message}`);
  }
}

async function write(statement: Statement, file: string, sql: string): Promise<number> {
  const output = await open(file, "w");
  let rows = 0;
  let text = "";
  try {
    // A row has only the second of two columns with one name. All names are in this method alone.
    const names = (statement as unknown as { _getColumnNames(): readonly string[] })._getColumnNames();
    const problem = problemOfNames(names);
    if (problem !== undefined) throw queryProblem(sql, `${problem}; name them with AS`);
    for (const row of statement.iterate()) {
      rows += 1;
      text += `{${Object.entries(row)
        .map(([name, value]) => `${JSON.stringify(name)}:${jsonOf(sql, name, value)}`)
        .join(",")}}\n`;
      if (text.length < flushedLength) continue;
      await output.writeFile(text);
      text = "";
    }
    await output.writeFile(text);
    return rows;
  } finally {
    await output.close();
  }
}

function jsonOf(sql: string, name: string, value: unknown): string {
  if (value instanceof Uint8Array) {
    throw queryProblem(sql, `column ${name} must have numbers and texts, and has a BLOB; leave it out, or cast it`);
  }
  if (typeof value === "bigint") return String(value);
  // JSON has no number for them.
  return typeof value === "number" && !Number.isFinite(value) ? JSON.stringify(String(value)) : JSON.stringify(value);
}
