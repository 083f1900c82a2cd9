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
  /** `batch 3` or `dictionary 1`; empty before the first one. */
  place: string;
  /** Decoded size of the current message. */
  bytes: number;
}

/** A rule that a file breaks, and no damage. */
export class ArrowLimitError extends Error {}

/**
 * Yields the messages of an Arrow file or stream one by one, each with its body, after checks of all sizes. An Arrow file is
 * a stream between two magic numbers, with an index behind it that is not needed.
 *
 * @throws ArrowLimitError for a batch that is too large or a codec that is not supported; Error if the file is damaged
 */
export async function* readMessages(handle: FileHandle, position: Position): AsyncGenerator<Uint8Array> {
  const { size } = await handle.stat();
  const isFile = (await read(handle, 0, Math.min(size, 8))).subarray(0, 6).toString("latin1") === magic;
  if (isFile && (await read(handle, size - 6, 6)).toString("latin1") !== magic) {
    throw new Error("it does not end with its magic number: it is cut");
  }
  const start = isFile ? 8 : 0;
  let [batches, dictionaries, dictionaryBytes] = [0, 0, 0];
  for (let at = start; ; ) {
    if (at >= size) throw new Error("it has no end-of-stream mark: it is cut");
    const first = (await read(handle, at, 4)).readInt32LE(0);
    // Files before format 0.15 have no continuation mark before the length.
    const prefix = first === -1 ? 8 : 4;
    const metadataLength = first === -1 ? (await read(handle, at + 4, 4)).readInt32LE(0) : first;
    if (metadataLength === 0) return;
    if (metadataLength < 0 || metadataLength > maxMetadataBytes) throw new Error("it is no Arrow file or stream");
    const message = Message.decode(await read(handle, at + prefix, metadataLength));
    const bodyAt = at + prefix + metadataLength;
    const { bodyLength } = message;
    if (isFile && at === start && !message.isSchema()) yield await schemaOfFooter(handle, size);
    if (message.isRecordBatch()) position.place = `batch ${++batches}`;
    else if (message.isDictionaryBatch()) position.place = `dictionary ${++dictionaries}`;
    if (bodyLength < 0 || bodyAt + bodyLength > size) throw new Error("a message ends after the file: it is cut");
    assertSize(bodyLength);
    const whole = await read(handle, at, prefix + metadataLength + bodyLength);
    position.bytes = decodedSize(message, whole.subarray(prefix + metadataLength));
    assertSize(position.bytes);
    if (message.isDictionaryBatch()) {
      dictionaryBytes += position.bytes;
      assertSize(dictionaryBytes, "dictionaries");
    }
    at = bodyAt + bodyLength;
    yield whole;
  }
}

/** Returns the schema of a file as the message that Arrow's JavaScript library omits at the beginning. */
async function schemaOfFooter(handle: FileHandle, size: number): Promise<Uint8Array> {
  const length = (await read(handle, size - 10, 4)).readInt32LE(0);
  if (length <= 0 || length > maxMetadataBytes) throw new Error("its footer has no size");
  const footer = Footer.decode(await read(handle, size - 10 - length, length));
  const metadata = Message.encode(Message.from(footer.schema));
  const message = Buffer.alloc(8 + Math.ceil(metadata.length / 8) * 8);
  message.writeInt32LE(-1, 0);
  message.writeInt32LE(message.length - 8, 4);
  message.set(metadata, 8);
  return message;
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
  if (compression.type !== CompressionType.LZ4_FRAME) {
    const name = CompressionType[compression.type] ?? String(compression.type);
    throw new ArrowLimitError(
      `must be uncompressed or compressed with LZ4, and is compressed with ${name}; write it with another compression`,
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
