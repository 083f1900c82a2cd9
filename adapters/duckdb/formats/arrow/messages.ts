import type { FileHandle } from "node:fs/promises";
import { CompressionType, Message, type MessageHeader } from "apache-arrow";
import { Footer } from "apache-arrow/ipc/metadata/file";
import { formatBytes } from "../../../../core/quantities";

/** The maximum size of a record batch and of all dictionaries, decoded. They are held in memory. */
const maxBytes = 512 * 1024 * 1024;
const maxMetadataBytes = 64 * 1024 * 1024;
const magic = "ARROW1";

/** Place of the reader in its file. */
export interface Position {
  /** The part of the file that is read: `schema`, `footer`, `batch 3` or `dictionary 1`. */
  place: string;
  /** Decoded size of the current message. */
  bytes: number;
}

/** A rule that a file breaks, and no damage. */
export class ArrowLimitError extends Error {}

/**
 * Yields the messages of an Arrow file or stream one by one, each with its body, after checks of all sizes. The messages
 * of a file are those that its footer lists: polars puts no length before the schema at a file's beginning, and Arrow's
 * JavaScript library no schema.
 *
 * @throws ArrowLimitError for a batch that is too large or a codec that is not supported; Error if the file is damaged
 */
export async function* readMessages(handle: FileHandle, position: Position): AsyncGenerator<Uint8Array> {
  const { size } = await handle.stat();
  const counts: Counts = { batches: 0, dictionaries: 0, dictionaryBytes: 0 };
  position.place = "schema";
  const isFile = (await read(handle, 0, Math.min(size, 8))).subarray(0, 6).toString("latin1") === magic;
  if (isFile) {
    position.place = "end of the file";
    if ((await read(handle, size - 6, 6)).toString("latin1") !== magic) {
      throw new Error("it does not end with its magic number: it is cut");
    }
    position.place = "footer";
    const { schema, blocks } = await readFooter(handle, size);
    yield schema;
    for (const at of blocks) {
      if (at < 8 || at >= size) throw new Error("its footer names a place outside of it");
      const message = await readMessage(handle, size, at, position, counts);
      if (message === undefined) throw new Error("its footer names an empty message");
      yield message;
    }
    return;
  }
  for (let at = 0; ; ) {
    if (at > 0) position.place = placeAfter(counts);
    const message = await readMessage(handle, size, at, position, counts);
    if (message === undefined) return;
    at += message.length;
    yield message;
  }
}

interface Counts {
  batches: number;
  dictionaries: number;
  /** Decoded size of all dictionaries so far. */
  dictionaryBytes: number;
}

function placeAfter({ batches, dictionaries }: Counts): string {
  if (batches > 0) return `message after batch ${batches}`;
  return dictionaries > 0 ? `message after dictionary ${dictionaries}` : "message after the schema";
}

/** Reads a message with its body. @returns undefined at the end-of-stream mark */
async function readMessage(
  handle: FileHandle,
  size: number,
  at: number,
  position: Position,
  counts: Counts,
): Promise<Buffer | undefined> {
  if (at >= size) throw new Error("it has no end-of-stream mark: it is cut");
  const first = (await read(handle, at, 4)).readInt32LE(0);
  // Files before format 0.15 have no continuation mark before the length.
  const prefix = first === -1 ? 8 : 4;
  const metadataLength = first === -1 ? (await read(handle, at + 4, 4)).readInt32LE(0) : first;
  if (metadataLength === 0) return undefined;
  if (metadataLength < 0 || metadataLength > maxMetadataBytes) throw new Error("it is no Arrow file or stream");
  const message = Message.decode(await read(handle, at + prefix, metadataLength));
  const isFirst = position.place === "schema";
  if (isFirst && !message.isSchema()) throw new Error("it does not begin with a schema");
  if (message.isRecordBatch()) position.place = `batch ${++counts.batches}`;
  else if (message.isDictionaryBatch()) position.place = `dictionary ${++counts.dictionaries}`;
  const { bodyLength } = message;
  const length = prefix + metadataLength + bodyLength;
  if (bodyLength < 0 || at + length > size) throw new Error("a message ends after the file: it is cut");
  assertSize(bodyLength);
  const whole = await read(handle, at, length);
  position.bytes = decodedSize(message, whole.subarray(prefix + metadataLength));
  assertSize(position.bytes);
  if (message.isDictionaryBatch()) {
    counts.dictionaryBytes += position.bytes;
    assertSize(counts.dictionaryBytes, "dictionaries");
  }
  return whole;
}

/** Returns the schema of a file as a message, and the places of its dictionaries and then of its batches. */
async function readFooter(
  handle: FileHandle,
  size: number,
): Promise<{ readonly schema: Uint8Array; readonly blocks: readonly number[] }> {
  const length = (await read(handle, size - 10, 4)).readInt32LE(0);
  if (length <= 0 || length > maxMetadataBytes) throw new Error("its footer has no size");
  const footer = Footer.decode(await read(handle, size - 10 - length, length));
  const metadata = Message.encode(Message.from(footer.schema));
  const schema = Buffer.alloc(8 + Math.ceil(metadata.length / 8) * 8);
  schema.writeInt32LE(-1, 0);
  schema.writeInt32LE(schema.length - 8, 4);
  schema.set(metadata, 8);
  const blocks = [...footer.dictionaryBatches(), ...footer.recordBatches()].map(({ offset }) => Number(offset));
  return { schema, blocks };
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  if (from < 0) throw new Error("it is cut");
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await handle.read(bytes, 0, length, from);
  if (bytesRead < length) throw new Error("it is cut");
  return bytes;
}

function assertSize(bytes: number, what = "record batches"): void {
  if (bytes <= maxBytes) return;
  throw new ArrowLimitError(
    `must have ${what} of at most ${formatBytes(maxBytes)}, and has ${formatBytes(bytes)}; write smaller ones`,
  );
}

/** Returns the size of a body once it is decoded. @throws Error if a buffer lies outside of it */
function decodedSize(message: Message<MessageHeader>, body: Buffer): number {
  const header = message.isRecordBatch()
    ? message.header()
    : message.isDictionaryBatch()
      ? message.header().data
      : undefined;
  if (header === undefined) return body.length;
  for (const { offset, length } of header.buffers) {
    if (offset < 0 || length < 0 || offset + length > body.length)
      throw new Error("a buffer lies outside of its batch");
  }
  const { compression } = header;
  if (compression === null) return body.length;
  if (compression.type !== CompressionType.LZ4_FRAME && compression.type !== CompressionType.ZSTD) {
    const name = CompressionType[compression.type] ?? String(compression.type);
    throw new ArrowLimitError(
      `must be uncompressed or compressed with LZ4 or ZSTD, and is compressed with ${name}; write it with another compression`,
    );
  }
  let bytes = 0;
  for (const { offset, length } of header.buffers) {
    if (length === 0) continue;
    if (length < 8) throw new Error("a compressed buffer has no size");
    const size = Number(body.readBigInt64LE(offset));
    if (size < -1) throw new Error("a compressed buffer has no size");
    bytes += size === -1 ? length - 8 : size;
  }
  return bytes;
}
