import { open } from "node:fs/promises";
import { DuckDBDataChunk } from "@duckdb/node-api";
import {
  CompressionType,
  compressionRegistry,
  DataType,
  type RecordBatch,
  RecordBatchReader,
  type Schema,
} from "apache-arrow";
import { InvalidInputError, RingmasterError } from "../../../../core/errors";
import { isDiskFull, messageOf } from "../../errors";
import { type DuckDbSession, quoteName } from "../../session";
import { problemOfNames } from "../csv-header";
import { absentType } from "../tables";
import { type ArrowColumn, columnOf } from "./columns";
import { decodeLz4Frame } from "./lz4";
import { ArrowLimitError, type Position, readMessages } from "./messages";
import { decodeZstdFrame } from "./zstd";

/** Rows are appended in chunks of at most so many rows and bytes, and written to the disk after as many bytes again. */
const chunkRows = 2_048;
const chunkBytes = 16 * 1024 * 1024;
const flushBytes = 64 * 1024 * 1024;

/**
 * Writes the record batches of an Arrow file or stream to a table of the session, one at a time.
 *
 * @returns the columns with their DuckDB types, or `absentType` for Arrow's `null`
 * @throws InvalidInputError that names the batch
 */
export async function writeArrowTable(
  session: DuckDbSession,
  file: string,
  table: string,
): Promise<ReadonlyMap<string, string>> {
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: decodeLz4Frame });
  compressionRegistry.set(CompressionType.ZSTD, { decode: decodeZstdFrame });
  const handle = await open(file);
  const position: Position = { place: "", bytes: 0 };
  try {
    const reader = await RecordBatchReader.from(readMessages(handle, position));
    await reader.open();
    if (reader.schema === undefined) throw new Error("it has no schema");
    const columns = columnsOf(file, reader.schema);
    const absent = new Set(reader.schema.fields.filter(({ type }) => DataType.isNull(type)).map(({ name }) => name));
    const types = new Map([...columns].map(([name, { type }]) => [name, absent.has(name) ? absentType : String(type)]));
    const declared = [...columns].map(([name, { type }]) => `${quoteName(name)} ${String(type)}`);
    await session.run(`CREATE TABLE ${table} (${declared.join(", ")})`);
    const appender = await session.connection.createAppender(table);
    let unflushed = 0;
    for await (const batch of reader) {
      if (batch.numRows === 0) continue;
      const rows = Math.max(1, Math.min(chunkRows, Math.floor(chunkBytes / (position.bytes / batch.numRows + 1))));
      for (const chunk of chunksOf(batch, [...columns.values()], rows)) appender.appendDataChunk(chunk);
      unflushed += position.bytes;
      if (unflushed < flushBytes) continue;
      appender.flushSync();
      unflushed = 0;
    }
    appender.closeSync();
    return types;
  } catch (error) {
    if (error instanceof RingmasterError || isDiskFull(error)) throw error;
    const unknownType = /^Unrecognized (?:Int type|type: "(?!undefined)(\w+)")/.exec(messageOf(error));
    const rule =
      error instanceof ArrowLimitError
        ? error.message
        : unknownType
          ? `must have types that are read, and a column has ${unknownType[1] ?? "integers of another width"}; cast the column, leave it out, or write Parquet`
          : `must be readable, and is damaged: ${messageOf(error).split("\n")[0]}; copy or write the file again`;
    throw new InvalidInputError(`${file} cannot be read`, [{ path: position.place, rule }], error);
  } finally {
    await handle.close();
  }
}

function columnsOf(file: string, { fields }: Schema): ReadonlyMap<string, ArrowColumn> {
  const rule = fields.length === 0 ? "must have columns, and has none" : problemOfNames(fields.map(({ name }) => name));
  if (rule !== undefined) throw new InvalidInputError(`${file} cannot be read`, [{ path: "columns", rule }]);
  return new Map(fields.map(({ name, type }) => [name, columnOf(type)]));
}

function* chunksOf(batch: RecordBatch, columns: readonly ArrowColumn[], rows: number): Generator<DuckDBDataChunk> {
  const readers = columns.map((column, index) => {
    const vector = batch.getChildAt(index);
    if (vector === null || vector.length < batch.numRows) throw new Error("a column has too few rows");
    return column.open(vector);
  });
  for (let from = 0; from < batch.numRows; from += rows) {
    const count = Math.min(rows, batch.numRows - from);
    const chunk = DuckDBDataChunk.create(
      columns.map(({ type }) => type),
      count,
    );
    for (const [index, read] of readers.entries()) {
      chunk.setColumnValues(
        index,
        Array.from({ length: count }, (_, row) => read(from + row)),
      );
    }
    yield chunk;
  }
}
