import { crc32c, masked } from "./crc32c";

/*
 * LevelDB's log format (doc/log_format.md), of write-ahead logs and of the manifest: blocks of 32 KiB hold fragments, each
 * with a header: CRC-32C (4 bytes), length (2), type (1: full, first, middle, last).
 */

const blockBytes = 32 * 1024;
const headerBytes = 7;
const full = 1;
const first = 2;
const last = 4;

export interface LogRecord {
  /** The position of its first fragment. */
  readonly offset: number;
  readonly data: Buffer;
}

/** The position and reason where reading had to stop. */
export interface LogFault {
  readonly offset: number;
  readonly reason: string;
  /** The readable part of the record at that position. It is not trustworthy. */
  readonly data: Buffer;
  /** The complete records that are readable after it. There are none after a write that a kill has interrupted. */
  readonly after: readonly LogRecord[];
}

export interface LogContent {
  readonly records: readonly LogRecord[];
  readonly fault?: LogFault;
}

interface Fragment {
  readonly type: number;
  readonly data: Buffer;
  readonly end: number;
}

/** Reads all records up to the first fault, and the records that can be found after it. */
export function readLog(bytes: Buffer): LogContent {
  const records: LogRecord[] = [];
  const stopped = readRecords(bytes, 0, records);
  if (!stopped) return { records };
  return {
    records,
    fault: { ...stopped, data: readOn(bytes, stopped.offset), after: findRecords(bytes, stopped.offset + 1) },
  };
}

function readRecords(
  bytes: Buffer,
  from: number,
  records: LogRecord[],
): { readonly offset: number; readonly reason: string } | undefined {
  let at = from;
  let parts: Buffer[] = [];
  let start = from;
  while (at < bytes.length) {
    const left = blockBytes - (at % blockBytes);
    if (left < headerBytes) {
      const padding = bytes.subarray(at, at + left);
      if (padding.some((byte) => byte !== 0)) return { offset: at, reason: "its padding is not zero" };
      at += left;
      continue;
    }
    const fragment = readFragment(bytes, at);
    if (typeof fragment === "string") return { offset: at, reason: fragment };
    const { type, data } = fragment;
    const begins = type === full || type === first;
    if (begins !== (parts.length === 0)) return { offset: at, reason: "a record's fragments are not in order" };
    if (begins) start = at;
    parts.push(data);
    at = fragment.end;
    if (type === full || type === last) {
      records.push({ offset: start, data: parts.length === 1 ? data : Buffer.concat(parts) });
      parts = [];
    }
  }
  return parts.length === 0 ? undefined : { offset: start, reason: "its last record is incomplete" };
}

/** Returns the fragment at a position, or the reason why there is none. */
function readFragment(bytes: Buffer, at: number): Fragment | string {
  if (at + headerBytes > bytes.length) return "it ends within a record's header";
  const length = bytes.readUInt16LE(at + 4);
  const type = bytes[at + 6]!;
  const end = at + headerBytes + length;
  if (type < full || type > last) return `${type} is no type of a record`;
  if ((at % blockBytes) + headerBytes + length > blockBytes) return "a record is longer than its block";
  if (end > bytes.length) return "it ends within a record";
  if (masked(crc32c(bytes.subarray(at + 6, end))) !== bytes.readUInt32LE(at)) return "a record fails its checksum";
  return { type, data: bytes.subarray(at + headerBytes, end), end };
}

/** Joins fragments, without their checksums, up to the end of a record or of the file. */
function readOn(bytes: Buffer, from: number): Buffer {
  const parts: Buffer[] = [];
  for (let at = from; at + headerBytes <= bytes.length; ) {
    const type = bytes[at + 6]!;
    const end = Math.min(at + headerBytes + bytes.readUInt16LE(at + 4), at + blockBytes - (at % blockBytes));
    parts.push(bytes.subarray(at + headerBytes, end));
    if (type === full || type === last) break;
    at = end + (blockBytes - (end % blockBytes) < headerBytes ? blockBytes - (end % blockBytes) : 0);
  }
  return Buffer.concat(parts);
}

/** Searches every offset for records, because a damaged length does not show where the next record begins. */
function findRecords(bytes: Buffer, from: number): readonly LogRecord[] {
  const records: LogRecord[] = [];
  for (let at = from; at + headerBytes <= bytes.length; ) {
    const type = bytes[at + 6]!;
    const fragment = type === full || type === first ? readFragment(bytes, at) : "";
    if (typeof fragment === "string") {
      at++;
      continue;
    }
    const stopped = readRecords(bytes, at, records);
    if (!stopped) return records;
    at = stopped.offset + 1;
  }
  return records;
}
