import * as fs from "node:fs";
import * as path from "node:path";
import { type DuckDBConnection, DuckDBInstance, type DuckDBValue } from "@duckdb/node-api";

export interface DuckDbSession {
  readonly connection: DuckDBConnection;
  readonly directory: string;
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<readonly Readonly<Record<string, DuckDBValue>>[]>;
  close(): void;
}

export interface DuckDbLimits {
  /** Default 512. */
  readonly memoryMb?: number;
  /** Default 1. With more, the order of sums and of rows without ORDER BY may vary. */
  readonly threads?: number;
}

/**
 * Opens a DuckDB with one thread and preserved insertion order: equal input gives equal bytes and equal sums. DuckDB
 * enforces the memory limit and spills larger data into `directory`. Timestamps without an offset are UTC.
 */
export async function openDuckDb(
  directory: string,
  { memoryMb = 512, threads = 1 }: DuckDbLimits = {},
): Promise<DuckDbSession> {
  fs.mkdirSync(directory, { recursive: true });
  const instance = await DuckDBInstance.create(path.join(directory, "rows.duckdb"), {
    threads: String(threads),
    memory_limit: `${memoryMb}MB`,
    temp_directory: path.join(directory, "spill"),
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
  });
  const connection = await instance.connect();
  await connection.run("SET preserve_insertion_order = true; SET TimeZone = 'UTC'; SET enable_progress_bar = false");
  // Nothing opens the file again, so that its tables need not be written when it is closed.
  await connection.run("PRAGMA disable_checkpoint_on_shutdown");
  return {
    connection,
    directory,
    run: async (sql) => void (await connection.run(sql)),
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRowObjects(),
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

export async function columnTypes(session: DuckDbSession, table: string): Promise<ReadonlyMap<string, string>> {
  const described = await session.rows(`DESCRIBE SELECT * FROM ${table}`);
  return new Map(described.map((row) => [String(row["column_name"]), String(row["column_type"])]));
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
