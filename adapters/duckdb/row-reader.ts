import type { DuckDBDataChunk, DuckDBListVector, DuckDBVector } from "@duckdb/node-api";
import { elementsOf } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import type { ColumnBatch, ColumnValues } from "../../core/features/values";
import { type DuckDbSession, quoteName } from "./session";

/** Streams columns of a canonical table (or of its Parquet shards) in batches of at most 2,048 rows. */
export async function* readColumns(
  session: DuckDbSession,
  table: string,
  columns: readonly ColumnSchema[],
  firstRow = 0,
): AsyncGenerator<ColumnBatch> {
  const selected = columns.map(selection).join(", ");
  const result = await session.connection.stream(`SELECT ${selected === "" ? "NULL" : selected} FROM ${table}`);
  let at = firstRow;
  for (;;) {
    const chunk = await result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) return;
    yield { rows: chunk.rowCount, firstRow: at, columns: valuesOf(chunk, columns) };
    at += chunk.rowCount;
  }
}

function selection({ name, type }: ColumnSchema): string {
  const quoted = quoteName(name);
  if (type === "string" || type === "tensor") return quoted;
  if (type === "timestamp") return `CAST(epoch_ms(${quoted}) AS DOUBLE)`;
  return type === "bool" ? `CAST(CAST(${quoted} AS INTEGER) AS DOUBLE)` : `CAST(${quoted} AS DOUBLE)`;
}

function valuesOf(chunk: DuckDBDataChunk, columns: readonly ColumnSchema[]): Readonly<Record<string, ColumnValues>> {
  const values: Record<string, ColumnValues> = {};
  for (const [index, column] of columns.entries()) {
    const vector = chunk.getColumnVector(index);
    if (column.type === "string") values[column.name] = { kind: "string", values: texts(vector, chunk.rowCount) };
    else if (column.type === "tensor") values[column.name] = tensors(vector, chunk.rowCount, elementsOf(column));
    else values[column.name] = numbers(vector, chunk.rowCount);
  }
  return values;
}

function texts(vector: DuckDBVector, rows: number): readonly (string | null)[] {
  const values = new Array<string | null>(rows);
  for (let row = 0; row < rows; row += 1) values[row] = vector.getItem(row) as string | null;
  return values;
}

function numbers(vector: DuckDBVector, rows: number): ColumnValues {
  const values = new Float64Array(rows);
  const valid = new Uint8Array(rows);
  for (let row = 0; row < rows; row += 1) {
    const value = vector.getItem(row) as number | null;
    // A push writes missing numbers as null. A NaN from elsewhere has the same meaning.
    if (value === null || Number.isNaN(value)) continue;
    values[row] = value;
    valid[row] = 1;
  }
  return { kind: "number", values, valid };
}

function tensors(vector: DuckDBVector, rows: number, width: number): ColumnValues {
  const values = new Float32Array(rows * width);
  const valid = new Uint8Array(rows);
  for (let row = 0; row < rows; row += 1) {
    const item = (vector as DuckDBListVector).getItemVector(row);
    if (item === null || item.itemCount !== width) continue;
    for (let i = 0; i < width; i += 1) values[row * width + i] = item.getItem(i) as number;
    valid[row] = 1;
  }
  return { kind: "tensor", values, width, valid };
}
