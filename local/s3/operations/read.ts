import fs from "node:fs";
import type { Range } from "../conditions";
import type { OpenObject, Store } from "../store";

/** Large enough that system calls do not show, small enough for many readers at once. */
const blockBytes = 512 * 1024;

/**
 * The bytes of a range of an open object, part by part. Each block is new memory, the consumer's to keep; one read is in flight
 * ahead of it.
 */
export async function* readObject(
  store: Store,
  bucket: string,
  open: OpenObject,
  range: Range,
): AsyncGenerator<Buffer> {
  for (const piece of piecesOf(store, bucket, open, range)) {
    const descriptor = piece.file === undefined ? open.descriptor : fs.openSync(piece.file, "r");
    let next = readBlock(descriptor, piece.start, piece.end);
    try {
      for (let at = piece.start; at <= piece.end; ) {
        const block = await next;
        at += block.length;
        // The next block is read while this one is sent.
        if (at <= piece.end) {
          next = readBlock(descriptor, at, piece.end);
          next.catch(() => {});
        }
        yield block;
      }
    } finally {
      await next.catch(() => {}); // the file must not be closed under a read
      if (piece.file !== undefined) fs.closeSync(descriptor);
    }
  }
}

interface Piece extends Range {
  /** Undefined: the object's own file. */
  readonly file: string | undefined;
}

function* piecesOf(store: Store, bucket: string, { record }: OpenObject, range: Range): Generator<Piece> {
  if (!record.parts) {
    if (record.size > 0) yield { file: undefined, ...range };
    return;
  }
  let offset = 0;
  for (const part of record.parts.list) {
    const start = Math.max(range.start - offset, 0);
    const end = Math.min(range.end - offset, part.size - 1);
    if (start <= end) yield { file: store.disk.part(bucket, record.parts.uploadId, part.number), start, end };
    offset += part.size;
  }
}

function readBlock(descriptor: number, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(blockBytes, end - start + 1));
  return new Promise((resolve, reject) => {
    fs.read(descriptor, buffer, 0, buffer.length, start, (error, bytes) => {
      if (error) reject(error);
      else if (bytes === 0) reject(new Error("The stored object's file is shorter than its record says."));
      else resolve(buffer.subarray(0, bytes));
    });
  });
}
