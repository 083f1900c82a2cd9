import * as fs from "node:fs";
import * as path from "node:path";
import { StatementType } from "@duckdb/node-api";
import { isDiskFull, messageOf } from "../../../adapters/duckdb/errors";
import { type DuckDbSession, quoteName, quoteText } from "../../../adapters/duckdb/session";
import { withDuckDb } from "../../../adapters/duckdb/workspace";
import { RingmasterError } from "../../../core/errors";
import { type DatabaseQuery, databaseProblem, type QueryRows, queryProblem } from "../database-query";

/** Names of databases that a session has already. */
const ownNames = ["rows", "memory", "system", "temp"];
/** Parquet has no integers of 128 bits; as numbers they would lose digits. */
const wide = /^U?HUGEINT$|^BIGNUM$|^VARINT$/;

/**
 * Writes the rows of a query of a DuckDB file to a Parquet file. The database is opened for reading, and the query can read no
 * other file.
 *
 * @throws InvalidInputError
 */
export async function readDuckDbFile({ from, sql }: DatabaseQuery, folder: string): Promise<QueryRows> {
  if (!fs.statSync(from, { throwIfNoEntry: false })?.isFile())
    throw databaseProblem(from, "must be a file that exists");
  return withDuckDb(async (session) => {
    await attach(session, from);
    const allowed = [session.directory, folder].map((one) => quoteText(path.resolve(one))).join(", ");
    await session.run(`SET allowed_directories = [${allowed}]`);
    await session.run("SET enable_external_access = false; SET lock_configuration = true");
    const file = path.join(folder, "rows.parquet");
    try {
      await assertSelect(session, sql);
      const query = sql.replace(/[;\s]+$/, "");
      const columns = await session.rows(`DESCRIBE (${query}\n)`);
      const casts = columns
        .filter((column) => wide.test(String(column["column_type"])))
        .map((column) => quoteName(String(column["column_name"])))
        .map((name) => `CAST(${name} AS VARCHAR) AS ${name}`);
      const replaced = casts.length > 0 ? ` REPLACE (${casts.join(", ")})` : "";
      const [written] = await session.rows(
        `COPY (SELECT *${replaced} FROM (${query}\n)) TO ${quoteText(file)} (FORMAT parquet)`,
      );
      return { file, rows: Number(written!["Count"]) };
    } catch (error) {
      if (isDiskFull(error) || error instanceof RingmasterError) throw error;
      throw queryProblem(sql, messageOf(error).replace("Failed to extract statements: ", "").trim());
    }
  });
}

async function attach(session: DuckDbSession, from: string): Promise<void> {
  const { name } = path.parse(from);
  const alias = quoteName(ownNames.includes(name.toLowerCase()) ? `${name} file` : name);
  try {
    await session.run(`ATTACH ${quoteText(path.resolve(from))} AS ${alias} (READ_ONLY)`);
    await session.run(`USE ${alias}`);
  } catch (error) {
    const [text = ""] = messageOf(error).split("\n");
    const next = /lock/i.test(text) ? "; close the program that writes it" : "";
    throw databaseProblem(from, `must be a DuckDB database that can be opened: ${text}${next}`);
  }
}

/** @throws InvalidInputError for other statements, and for several */
async function assertSelect(session: DuckDbSession, sql: string): Promise<void> {
  const statements = await session.connection.extractStatements(sql);
  const prepared = statements.count === 1 ? await statements.prepare(0) : undefined;
  if (prepared?.statementType !== StatementType.SELECT) throw queryProblem(sql, "must be one SELECT");
}
