import fs from "node:fs";
import { crc32 } from "node:zlib";
import { tableBytes } from "./blocks";
import type { Checksum } from "./checksums";
import { DamagedFileError } from "./damage";

/**
 * The metadata of an object (or of an uploaded part). The body and the metadata are in one file, which one rename
 * publishes:
 *
 *     the body's bytes
 *     the CRC-32 of each of its blocks (blocks.ts)
 *     this record as JSON
 *     tail: length of the JSON, CRC-32 of the table of blocks, CRC-32 of the JSON and of these two numbers, a magic number
 *
 * Numbers are big-endian uint32.
 */
export interface ObjectRecord {
  readonly bucket: string;
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  /** The modification time in milliseconds since the epoch. */
  readonly modified: number;
  /** The id of this write, which is the id of the version. */
  readonly writeId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The user metadata. Names have no `x-amz-meta-`. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly checksum?: Checksum;
  readonly encryption?: string;
  /**
   * The parts of a multipart object, which contains no bytes itself. They stay in the upload's directory, one file per
   * part.
   */
  readonly parts?: { readonly uploadId: string; readonly list: readonly StoredPart[] };
}

export interface StoredPart {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  /** The value in base64. */
  readonly checksum?: string;
}

export interface PartRecord {
  readonly size: number;
  readonly etag: string;
  readonly modified: number;
  readonly checksum?: Checksum;
}

const magic = 0x4f424a32; // "OBJ2"
const tailBytes = 16;
/** The size of the first read, which contains nearly every record completely. */
const firstRead = 4096;

export function encodeRecord(record: ObjectRecord | PartRecord, table: Buffer = Buffer.alloc(0)): Buffer {
  const json = Buffer.from(JSON.stringify(record), "utf8");
  const tail = Buffer.alloc(tailBytes);
  tail.writeUInt32BE(json.length, 0);
  tail.writeUInt32BE(crc32(table), 4);
  tail.writeUInt32BE(crc32(tail.subarray(0, 8), crc32(json)), 8);
  tail.writeUInt32BE(magic, 12);
  return Buffer.concat([table, json, tail]);
}

export interface StoredFile<T> {
  readonly record: T;
  readonly table: { readonly at: number; readonly bytes: number; readonly crc32: number };
  /** The unverified body of a small file, which was read together with the record. */
  readonly body?: Buffer;
}

export function readRecord<T extends ObjectRecord | PartRecord>(descriptor: number): StoredFile<T> {
  const fileSize = fs.fstatSync(descriptor).size;
  const end = readEnd(descriptor, fileSize, firstRead);
  if (end.length < tailBytes || end.readUInt32BE(end.length - 4) !== magic) {
    throw new DamagedFileError("its file has no record at its end");
  }
  const tail = end.subarray(end.length - tailBytes);
  const json = readJson(descriptor, end, fileSize, tail.readUInt32BE(0));
  if (crc32(tail.subarray(0, 8), crc32(json)) !== tail.readUInt32BE(8)) {
    throw new DamagedFileError("its record does not match the record's checksum");
  }
  const record = parseRecord<T>(json);
  const size = "parts" in record && record.parts ? 0 : record.size;
  const bytes = tableBytes(size);
  if (size + bytes + json.length + tailBytes !== fileSize) {
    throw new DamagedFileError(`its file has ${fileSize} bytes, which is not the length that its record gives`);
  }
  return {
    record,
    table: { at: size, bytes, crc32: tail.readUInt32BE(4) },
    ...(end.length === fileSize && { body: end.subarray(0, size) }),
  };
}

/** Reads and verifies the checksums of a file's blocks. @throws DamagedFileError */
export function readTable(descriptor: number, { at, bytes, crc32: expected }: StoredFile<unknown>["table"]) {
  const table = readAt(descriptor, at, bytes);
  if (crc32(table) !== expected) throw new DamagedFileError("the checksums of its blocks were changed");
  return table;
}

/**
 * Reads the record of a file, or returns undefined if the file does not exist. It is synchronous: two small reads,
 * mostly from the page cache.
 */
export function findRecord<T extends ObjectRecord | PartRecord>(file: string): T | undefined {
  const descriptor = openIfThere(file);
  if (descriptor === undefined) return undefined;
  try {
    return readRecord<T>(descriptor).record;
  } finally {
    fs.closeSync(descriptor);
  }
}

export function openIfThere(file: string): number | undefined {
  try {
    if (!fs.statSync(file, { throwIfNoEntry: false })) return undefined;
    return fs.openSync(file, "r");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

function readJson(descriptor: number, end: Buffer, fileSize: number, bytes: number): Buffer {
  if (bytes + tailBytes > fileSize) throw new DamagedFileError("its record is longer than its file");
  if (bytes + tailBytes <= end.length) return end.subarray(end.length - tailBytes - bytes, end.length - tailBytes);
  return readAt(descriptor, fileSize - tailBytes - bytes, bytes);
}

function parseRecord<T>(json: Buffer): T {
  try {
    return JSON.parse(json.toString("utf8")) as T;
  } catch (error) {
    throw new DamagedFileError(`its record is not JSON (${(error as Error).message})`);
  }
}

function readEnd(descriptor: number, fileSize: number, bytes: number): Buffer {
  const length = Math.min(bytes, fileSize);
  return readAt(descriptor, fileSize - length, length);
}

function readAt(descriptor: number, start: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < buffer.length) {
    const read = fs.readSync(descriptor, buffer, filled, buffer.length - filled, start + filled);
    if (read === 0) throw new DamagedFileError("its file was cut");
    filled += read;
  }
  return buffer;
}
