import fs from "node:fs";
import type { Checksum } from "./checksums";

/**
 * What is known of an object (or of an uploaded part) besides its bytes. It stands behind them in the same file, so that one rename shows
 * both or neither: bytes, then this as JSON, then the JSON's length (uint32, big-endian), then a magic number.
 */
export interface ObjectRecord {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  /** Without quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** New with each write: tells whether a file beside the object (its tags) belongs to this write of it. */
  readonly writeId: string;
  /** The standard headers that S3 keeps and gives back: `content-type`, `cache-control`, … */
  readonly headers: Readonly<Record<string, string>>;
  /** User metadata, names without `x-amz-meta-`. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly tags: Tags;
  readonly checksum?: Checksum;
  readonly encryption?: string;
  readonly storageClass?: string;
  /** A multipart object holds no bytes itself; they stay in its upload's directory, a file a part. */
  readonly parts?: { readonly uploadId: string; readonly list: readonly StoredPart[] };
}

export type Tags = readonly (readonly [key: string, value: string])[];

export interface StoredPart {
  readonly number: number;
  readonly size: number;
  /** Base64. */
  readonly checksum?: string;
}

export interface PartRecord {
  readonly size: number;
  readonly etag: string;
  readonly modified: number;
  readonly checksum?: Checksum;
}

const magic = 0x524d4f31; // "RMO1"
const tailBytes = 8;
/** One read of this much finds nearly every record. */
const firstRead = 4096;

/** What to append to the bytes. */
export function encodeRecord(record: ObjectRecord | PartRecord): Buffer {
  const json = Buffer.from(JSON.stringify(record), "utf8");
  const tail = Buffer.alloc(tailBytes);
  tail.writeUInt32BE(json.length, 0);
  tail.writeUInt32BE(magic, 4);
  return Buffer.concat([json, tail]);
}

/** Reads the record of an open file. @throws where the file was cut or changed from outside. */
export function readRecord<T extends ObjectRecord | PartRecord>(descriptor: number): T {
  const fileSize = fs.fstatSync(descriptor).size;
  let tail = readEnd(descriptor, fileSize, firstRead);
  const jsonBytes = tail.length < tailBytes ? -1 : tail.readUInt32BE(tail.length - tailBytes);
  if (jsonBytes < 0 || tail.readUInt32BE(tail.length - 4) !== magic || jsonBytes + tailBytes > fileSize) {
    throw new Error("The stored object has no valid record at its end: its file was changed from outside.");
  }
  if (jsonBytes + tailBytes > tail.length) tail = readEnd(descriptor, fileSize, jsonBytes + tailBytes);
  const end = tail.length - tailBytes;
  return JSON.parse(tail.toString("utf8", end - jsonBytes, end)) as T;
}

/** The record of a file, undefined where there is none. Synchronous: two small reads, mostly from the page cache. */
export function findRecord<T extends ObjectRecord | PartRecord>(file: string): T | undefined {
  const descriptor = openIfThere(file);
  if (descriptor === undefined) return undefined;
  try {
    return readRecord<T>(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

export function openIfThere(file: string): number | undefined {
  try {
    return fs.openSync(file, "r");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

function readEnd(descriptor: number, fileSize: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.min(bytes, fileSize));
  let filled = 0;
  while (filled < buffer.length) {
    const read = fs.readSync(descriptor, buffer, filled, buffer.length - filled, fileSize - buffer.length + filled);
    if (read === 0) throw new Error("The stored object's file was cut while it was read.");
    filled += read;
  }
  return buffer;
}
