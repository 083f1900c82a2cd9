import { DuckDBDataChunk, UTINYINT } from "@duckdb/node-api";
import type { DatasetProfile } from "../../core/datasets/profile";
import { type ColumnSchema, splitNames } from "../../core/datasets/shapes";
import type { SplitTimes } from "../../core/datasets/whole-split";
import { compareCategories } from "../../core/row-values";
import { categoryOf } from "./profile";
import { type DuckDbSession, quoteName } from "./session";

const chunkRows = 2_048;

/**
 * Stores the splits of rows in the session, for the functions that read them next to a table of these rows.
 *
 * @param splitOf index into `splitNames` of each row
 */
export async function createSplits(session: DuckDbSession, splitOf: Uint8Array): Promise<void> {
  await session.run(`CREATE OR REPLACE TABLE "splits#" ("split#" UTINYINT)`);
  const appender = await session.connection.createAppender("splits#");
  for (let at = 0; at < splitOf.length; at += chunkRows) {
    const some = splitOf.subarray(at, at + chunkRows);
    const chunk = DuckDBDataChunk.create([UTINYINT], some.length);
    chunk.setColumnValues(0, Array.from(some));
    appender.appendDataChunk(chunk);
  }
  appender.closeSync();
}

/** Returns a table with the column `split#`. */
export const withSplits = (table: string): string => `${table} POSITIONAL JOIN "splits#"`;

/** Returns the rows of each class by split; `undefined` if the label has no classes. */
export async function classesOf(
  session: DuckDbSession,
  table: string,
  schema: readonly ColumnSchema[],
): Promise<DatasetProfile["classes"]> {
  const label = schema.find(({ role }) => role === "label");
  if (label === undefined || label.type === "float") return undefined;
  const counts = splitNames.map((name, index) => `count_if("split#" = ${index})::INTEGER AS ${name}`).join(", ");
  const rows = await session.rows(
    `SELECT ${quoteName(label.name)} AS "value#", ${counts} FROM ${withSplits(table)} GROUP BY 1`,
  );
  return rows
    .map(({ "value#": value, train, validation, test }) => ({
      value: categoryOf(value, label.type),
      rows: { train: Number(train), validation: Number(validation), test: Number(test) },
    }))
    .sort((a, b) => compareCategories(a.value, b.value));
}

/** Returns the first and the last time of each split, of a split by time. */
export async function timesOf(
  session: DuckDbSession,
  table: string,
  { name, type }: ColumnSchema,
): Promise<readonly SplitTimes[]> {
  const time = type === "timestamp" ? `epoch_ms(${quoteName(name)})` : quoteName(name);
  const rows = await session.rows(
    `SELECT "split#", min(${time})::DOUBLE AS first, max(${time})::DOUBLE AS last FROM ${withSplits(table)}
     WHERE ${quoteName(name)} IS NOT NULL GROUP BY 1`,
  );
  return rows.map((row) => [splitNames[Number(row["split#"])]!, Number(row["first"]), Number(row["last"])] as const);
}
