import type { DuckDBDataChunk, DuckDBListVector, DuckDBVector } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import { elementsOf } from "../../core/datasets/rules";
import type { ColumnSchema } from "../../core/datasets/shapes";
import type { ColumnBatch, ColumnValues } from "../../core/features/values";
import { type DuckDbSession, quoteName, quoteText } from "./session";

/**
 * Returns a copy of a column of type DOUBLE, with NaN for NULL. Reading it value by value takes several times as long, with
 * NULLs fifty times.
 */
export function numbersIn({ chunk, rowCount }: DuckDBDataChunk, column: number): Float64Array {
  const vector = duckdb.data_chunk_get_vector(chunk, column);
  const bytes = duckdb.vector_get_data(vector, rowCount * Float64Array.BYTES_PER_ELEMENT);
  const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, rowCount).slice();
  // DuckDB has a bit for each value, in words of eight bytes. Absent if no value is missing.
  const valid: Uint8Array | undefined = duckdb.vector_get_validity(vector, 8 * Math.ceil(rowCount / 64));
  if (!valid) return numbers;
  for (let row = 0; row < rowCount; row += 1) {
    if ((valid[row >> 3]! & (1 << (row & 7))) === 0) numbers[row] = Number.NaN;
  }
  return numbers;
}

/** The texts of a column of few texts, by name; the first one is `null`, for a missing text. */
export type Dictionaries = ReadonlyMap<string, readonly (string | null)[]>;

/** Reading a text from DuckDB takes as long as reading fifty numbers. */
const maxTexts = 10_000;

/** Returns the texts of string columns that have at most 10,000. */
export async function readDictionaries(
  session: DuckDbSession,
  table: string,
  columns: readonly ColumnSchema[],
): Promise<Dictionaries> {
  const names = columns.flatMap(({ name, type }) => (type === "string" ? [name] : []));
  const dictionaries = new Map<string, readonly (string | null)[]>();
  if (names.length === 0) return dictionaries;
  const counts = names.map((name, index) => `approx_count_distinct(${quoteName(name)})::DOUBLE AS "n${index}"`);
  const [countsRow] = await session.rows(`SELECT ${counts.join(", ")} FROM ${table}`);
  for (const [index, name] of names.entries()) {
    const count = Number(countsRow![`n${index}`]);
    if (count === 0 || count > maxTexts) continue;
    const quoted = quoteName(name);
    const rows = await session.rows(
      `SELECT DISTINCT ${quoted} AS "text#" FROM ${table} WHERE ${quoted} IS NOT NULL ORDER BY 1`,
    );
    const texts = rows.map((row) => String(row["text#"]));
    // A query cannot have a text with U+0000.
    if (!texts.some((text) => text.includes("\0"))) dictionaries.set(name, [null, ...texts]);
  }
  return dictionaries;
}

/**
 * Streams columns of a canonical table (or of its Parquet shards) in batches of at most 8,192 rows, with tensors 2,048.
 * DuckDB makes the next rows while a batch is processed.
 */
export async function* readColumns(
  session: DuckDbSession,
  table: string,
  columns: readonly ColumnSchema[],
  { firstRow = 0, dictionaries = new Map() }: { readonly firstRow?: number; readonly dictionaries?: Dictionaries } = {},
): AsyncGenerator<ColumnBatch> {
  const selected = columns.map((column) => selection(column, dictionaries.get(column.name))).join(", ");
  const result = await session.connection.stream(`SELECT ${selected === "" ? "NULL" : selected} FROM ${table}`);
  const chunksPerBatch = columns.some(({ type }) => type === "tensor") ? 1 : 4;
  let at = firstRow;
  let next = result.fetchChunk();
  try {
    for (;;) {
      const chunks: DuckDBDataChunk[] = [];
      while (chunks.length < chunksPerBatch) {
        const chunk = await next;
        if (chunk === null || chunk.rowCount === 0) break;
        chunks.push(chunk);
        next = result.fetchChunk();
      }
      if (chunks.length === 0) return;
      const rows = chunks.reduce((sum, { rowCount }) => sum + rowCount, 0);
      yield { rows, firstRow: at, columns: valuesOf(chunks, rows, columns, dictionaries) };
      at += rows;
    }
  } finally {
    // The caller may close the connection, which must have no open call.
    await next.catch(() => undefined);
  }
}

/** Numbers and codes are never NULL (`numbersIn`). */
function selection({ name, type }: ColumnSchema, dictionary: readonly (string | null)[] | undefined): string {
  const quoted = quoteName(name);
  if (dictionary !== undefined) {
    const texts = dictionary.slice(1).map((text) => quoteText(text!));
    return `coalesce(CAST(enum_code(CAST(${quoted} AS ENUM(${texts.join(", ")}))) AS DOUBLE) + 1, 0)`;
  }
  if (type === "string" || type === "tensor") return quoted;
  const value = type === "timestamp" ? `epoch_ms(${quoted})` : type === "bool" ? `CAST(${quoted} AS INTEGER)` : quoted;
  return `coalesce(CAST(${value} AS DOUBLE), CAST('NaN' AS DOUBLE))`;
}

function valuesOf(
  chunks: readonly DuckDBDataChunk[],
  rows: number,
  columns: readonly ColumnSchema[],
  dictionaries: Dictionaries,
): Readonly<Record<string, ColumnValues>> {
  const values: Record<string, ColumnValues> = {};
  for (const [index, column] of columns.entries()) {
    const vectors = () => chunks.map((chunk) => chunk.getColumnVector(index));
    const dictionary = dictionaries.get(column.name);
    if (dictionary !== undefined) {
      const codes = Int32Array.from(numbers(chunks, index, rows).values);
      values[column.name] = { kind: "string", values: dictionary, codes };
    } else if (column.type === "string") values[column.name] = { kind: "string", values: vectors().flatMap(texts) };
    else if (column.type === "tensor") values[column.name] = tensors(vectors()[0]!, rows, elementsOf(column));
    else values[column.name] = numbers(chunks, index, rows);
  }
  return values;
}

function texts(vector: DuckDBVector): readonly (string | null)[] {
  return Array.from({ length: vector.itemCount }, (_, row) => vector.getItem(row) as string | null);
}

function numbers(chunks: readonly DuckDBDataChunk[], column: number, rows: number) {
  const values = new Float64Array(rows);
  let filled = 0;
  for (const chunk of chunks) {
    values.set(numbersIn(chunk, column), filled);
    filled += chunk.rowCount;
  }
  const valid = new Uint8Array(rows).fill(1);
  for (let row = 0; row < rows; row += 1) {
    // A push writes missing numbers as null. A NaN from elsewhere has the same meaning.
    if (!Number.isNaN(values[row]!)) continue;
    values[row] = 0;
    valid[row] = 0;
  }
  return { kind: "number" as const, values, valid };
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
