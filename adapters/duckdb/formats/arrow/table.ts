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
import { decompress } from "fzstd";
import { InvalidInputError, RingmasterError } from "../../../../core/errors";
import { isDiskFull, messageOf } from "../../errors";
import { type DuckDbSession, quoteName } from "../../session";
import { problemOfNames } from "../csv-header";
import { absentType } from "../tables";
import { type ArrowColumn, columnOf } from "./columns";
import { ArrowLimitError, type Position, readMessages } from "./messages";

/**
 * Decodes the LZ4 frame of an Arrow buffer. Arrow puts the decoded size, in eight bytes, right before the frame.
 *
 * Source: LZ4 Frame Format 1.6 and LZ4 Block Format (lz4/doc). Checksums are not compared.
 *
 * @throws Error if the frame is damaged or has another size
 */
export function decodeLz4Frame(frame: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = frame;
  const output = new Uint8Array(Number(new DataView(buffer, byteOffset - 8, 8).getBigInt64(0, true)));
  const view = new DataView(buffer, byteOffset, length);
  if (view.getUint32(0, true) !== 0x184d2204) throw new Error("an LZ4 frame must begin with its magic number");
  const flags = view.getUint8(4);
  const hasBlockChecksums = (flags & 0x10) !== 0;
  // Magic number, flags, block size, sizes that the flags announce, and the header's checksum.
  let at = 6 + ((flags & 0x08) !== 0 ? 8 : 0) + ((flags & 0x01) !== 0 ? 4 : 0) + 1;
  let end = 0;
  for (;;) {
    const header = view.getUint32(at, true);
    at += 4;
    if (header === 0) break;
    const size = header & 0x7fffffff;
    if (at + size > length) throw new Error("an LZ4 block ends after its buffer");
    const block = frame.subarray(at, at + size);
    if (header >>> 31 === 1) {
      output.set(block, end);
      end += size;
    } else end = decodeBlock(block, output, end);
    at += size + (hasBlockChecksums ? 4 : 0);
  }
  if (end !== output.length) throw new Error(`an LZ4 frame has ${end} bytes instead of ${output.length}`);
  return output;
}

/** Decodes a block to `output` from `start` on. It may copy from the output of earlier blocks. Returns the new end. */
function decodeBlock(block: Uint8Array, output: Uint8Array, start: number): number {
  let at = 0;
  let end = start;
  const lengthOf = (first: number): number => {
    let length = first;
    for (let more = first === 15 ? 255 : 0; more === 255; length += more) more = block[at++] ?? damaged();
    return length;
  };
  while (at < block.length) {
    const token = block[at++]!;
    const literals = lengthOf(token >> 4);
    if (at + literals > block.length || end + literals > output.length) damaged();
    output.set(block.subarray(at, at + literals), end);
    at += literals;
    end += literals;
    if (at === block.length) break; // The last sequence has no match.
    const distance = (block[at] ?? damaged()) | ((block[at + 1] ?? damaged()) << 8);
    at += 2;
    const matched = lengthOf(token & 15) + 4;
    const from = end - distance;
    if (distance === 0 || from < 0 || end + matched > output.length) damaged();
    if (distance >= matched) output.copyWithin(end, from, from + matched);
    // A match that overlaps its own output repeats it.
    else for (let i = 0; i < matched; i += 1) output[end + i] = output[from + i]!;
    end += matched;
  }
  return end;
}

function damaged(): never {
  throw new Error("an LZ4 block is damaged");
}

/**
 * Decodes the Zstandard frame of an Arrow buffer. Arrow puts the decoded size, in eight bytes, right before the frame.
 * Nothing is written beyond that size, whatever the frame says.
 *
 * Source: RFC 8878, section 3.1.1. Checksums are not compared.
 *
 * @throws Error if the frame is damaged or states another size
 */
export function decodeZstdFrame(frame: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = frame;
  const size = Number(new DataView(buffer, byteOffset - 8, 8).getBigInt64(0, true));
  const view = new DataView(buffer, byteOffset, length);
  if (length < 9 || view.getUint32(0, true) !== 0xfd2fb528)
    throw new Error("a ZSTD frame must begin with its magic number");
  const stated = statedSize(view);
  if (stated !== undefined && stated !== size) throw new Error(`a ZSTD frame has ${stated} bytes instead of ${size}`);
  try {
    return decompress(frame, new Uint8Array(size));
  } catch (cause) {
    throw new Error(`a ZSTD frame is damaged: ${(cause as Error).message}`, { cause });
  }
}

/** Returns the size of the content, which is optional unless the frame is one segment. */
function statedSize(view: DataView): number | undefined {
  const flags = view.getUint8(4);
  const isOneSegment = (flags & 0x20) !== 0;
  if ((flags & 0x03) !== 0) throw new Error("a ZSTD frame needs a dictionary");
  // Magic number and flags, then the window's size if the frame has several segments.
  const at = isOneSegment ? 5 : 6;
  const form = flags >>> 6;
  if (form === 0) return isOneSegment ? view.getUint8(at) : undefined;
  if (form === 1) return view.getUint16(at, true) + 256;
  return form === 2 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}

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
