import type { DuckDbSession } from "../../adapters/duckdb/session";

/** Returns the DuckDB types of a table's columns. */
export async function typesOf(session: DuckDbSession, table: string): Promise<ReadonlyMap<string, string>> {
  const described = await session.rows(`DESCRIBE SELECT * FROM ${table}`);
  return new Map(described.map((row) => [String(row["column_name"]), String(row["column_type"])]));
}
