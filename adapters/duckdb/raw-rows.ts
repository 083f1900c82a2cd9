import type { DuckDBDataChunk, DuckDBListValue } from "@duckdb/node-api";
import type { ColumnSchema } from "../../core/datasets/shapes";
import type { RawRow } from "../../core/features/transform";
import { castTo, rawValue } from "./cast";
import type { DuckDbSession } from "./session";
import { type DataFiles, openSource } from "./source";

/**
 * Streams a file's rows in its order, in batches of at most 2,048. A value of another type than its column's is returned
 * as text, so that the transform reports it.
 *
 * @param optional columns that the file may lack; rows do not have them then
 * @throws InvalidInputError if the file cannot be read or lacks columns
 */
export async function* readRawRows(
  session: DuckDbSession,
  file: DataFiles,
  wanted: readonly ColumnSchema[],
  optional: ReadonlySet<string> = new Set(),
): AsyncGenerator<readonly RawRow[]> {
  const present = optional.size > 0 ? (await openSource(session, file, [])).types : undefined;
  const columns = wanted.filter(({ name }) => !optional.has(name) || present?.has(name));
  const { table, types, reading } = await openSource(session, file, columns);
  const selected = columns.flatMap((column) => {
    const sourceType = types.get(column.name) ?? "VARCHAR";
    const raw = rawValue(column, sourceType);
    const typed = castTo(column, sourceType);
    const wrong = `CASE WHEN ${raw} IS NOT NULL AND (${typed}) IS NULL THEN CAST(${raw} AS VARCHAR) END`;
    return [shown(column, typed), wrong];
  });
  const result = await reading(() => session.connection.stream(`SELECT ${selected.join(", ")} FROM ${table}`));
  for (;;) {
    const chunk = await reading(() => result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) return;
    yield rowsOf(chunk, columns);
  }
}

function shown({ type }: ColumnSchema, typed: string): string {
  if (type === "int" || type === "float") return `CAST(${typed} AS DOUBLE)`;
  return type === "timestamp" ? `CAST(epoch_ms(${typed}) AS DOUBLE)` : typed;
}

function rowsOf(chunk: DuckDBDataChunk, columns: readonly ColumnSchema[]): readonly RawRow[] {
  const rows = Array.from({ length: chunk.rowCount }, (): Record<string, unknown> => ({}));
  for (const [index, { name, type }] of columns.entries()) {
    const [typed, wrong] = [chunk.getColumnVector(2 * index), chunk.getColumnVector(2 * index + 1)];
    for (const [at, row] of rows.entries()) {
      const value = typed.getItem(at);
      if (value === null) row[name] = wrong.getItem(at);
      else row[name] = type === "tensor" ? (value as DuckDBListValue).items : value;
    }
  }
  return rows;
}
