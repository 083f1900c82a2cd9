import fs from "node:fs";
import { blockBytes, verifyBlocks } from "../blocks";
import type { Range } from "../conditions";
import { DamagedFileError, damagedObject } from "../damage";
import { openIfThere, type PartRecord, readRecord, readTable, type StoredFile, type StoredPart } from "../record";
import type { OpenObject, Store } from "../store";

/**
 * The size of one read: a multiple of a checksum's block, large enough to make system calls cheap, and small enough for
 * many readers at once.
 */
const readBytes = 8 * blockBytes;

/**
 * Yields the bytes of a range of an open object, part by part, each verified. Each block is new memory that the
 * consumer may keep. One read is in progress ahead of the consumer.
 * @throws S3Error that names the object and the damage
 */
export async function* readObject(
  store: Store,
  bucket: string,
  open: Pick<OpenObject, "record" | "descriptor" | "table" | "body">,
  range: Range,
): AsyncGenerator<Buffer> {
  try {
    if (open.record.size === 0) return;
    if (!open.record.parts) {
      yield* readBody(open.descriptor, open, range, open.record.size);
      return;
    }
    let offset = 0;
    for (const part of open.record.parts.list) {
      const start = Math.max(range.start - offset, 0);
      const end = Math.min(range.end - offset, part.size - 1);
      const file = store.disk.part(bucket, open.record.parts.uploadId, part.number);
      if (start <= end) yield* readPart(file, part, { start, end });
      offset += part.size;
    }
  } catch (error) {
    if (!(error instanceof DamagedFileError)) throw error;
    const damage = damagedObject(bucket, open.record.key, error);
    store.noteDamage(open.record, damage);
    throw damage;
  }
}

async function* readPart(file: string, part: StoredPart, range: Range): AsyncGenerator<Buffer> {
  const descriptor = openIfThere(file);
  if (descriptor === undefined) throw new DamagedFileError(`the file of its part ${part.number} is missing`);
  try {
    const stored = readRecord<PartRecord>(descriptor);
    const { record } = stored;
    if (record.size !== part.size || record.etag !== part.etag) {
      throw new DamagedFileError(`the file of its part ${part.number} holds another part`);
    }
    yield* readBody(descriptor, stored, range, part.size);
  } finally {
    fs.closeSync(descriptor);
  }
}

async function* readBody(
  descriptor: number,
  { table: location, body }: Pick<StoredFile<unknown>, "table" | "body">,
  { start, end }: Range,
  size: number,
): AsyncGenerator<Buffer> {
  const table = readTable(descriptor, location);
  if (body) {
    verifyBlocks(table, body, 0);
    yield body.subarray(start, end + 1);
    return;
  }
  const lastBlock = end - (end % blockBytes);
  const needed = Math.min(lastBlock + blockBytes, size);
  const read = async (at: number): Promise<Buffer> => {
    const bytes = await readFully(descriptor, at, Math.min(readBytes, needed - at));
    verifyBlocks(table, bytes, at);
    return bytes;
  };
  const first = start - (start % blockBytes);
  let next = read(first);
  try {
    for (let at = first; at <= end; at += readBytes) {
      const block = await next;
      // Reads the next block while this one is sent.
      if (at + readBytes <= end) {
        next = read(at + readBytes);
        next.catch(() => {});
      }
      yield block.subarray(Math.max(start - at, 0), Math.min(end - at + 1, block.length));
    }
  } finally {
    await next.catch(() => {}); // The file must not be closed during a read.
  }
}

async function readFully(descriptor: number, start: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  let filled = 0;
  while (filled < bytes) {
    const got = await readSome(descriptor, buffer, filled, start + filled);
    if (got === 0) throw new DamagedFileError("its file is shorter than its record says");
    filled += got;
  }
  return buffer;
}

function readSome(descriptor: number, buffer: Buffer, offset: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(descriptor, buffer, offset, buffer.length - offset, position, (error, bytes) => {
      if (error) reject(error);
      else resolve(bytes);
    });
  });
}
