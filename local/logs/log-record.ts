import path from "node:path";
import { openLine, sealLine } from "../storage/sealed-line";

/** One line of a log file, without its line feed, and where it lies in the file, in bytes. */
export interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** An intact line. */
export interface LogRecord {
  /** Counts the stream's records from 1. Undefined in lines of versions without checksums. */
  readonly number?: number;
  readonly start: number;
  readonly end: number;
  /** The largest timestamp so far. */
  readonly order: number;
  readonly timestamp: number;
  readonly ingested: number;
  /** Empty in a note: such a record only reports a damage before it. */
  readonly message: string;
  /** What a note reports. Where it is missing, the gap in the numbers before the note says it all. */
  readonly reason?: string;
}

export interface Header {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  /** Place of the first line that is kept; absent where all are. */
  readonly first?: number;
  /** Number of the last record before the first that is kept; absent where all are, and in files without checksums. */
  readonly before?: number;
}

/** What a line's checksum covers besides its text: the names of the group and of the stream, as files. */
export function ownerOf(file: string): string {
  return path.join(path.basename(path.dirname(file)), path.basename(file));
}

export function headerLine(file: string, header: Header): Buffer {
  return Buffer.from(sealLine(ownerOf(file), JSON.stringify(header)));
}

/** Returns undefined where the header is damaged. */
export function parseHeader(
  file: string,
  line: string,
): { readonly header: Header; readonly legacy: boolean } | undefined {
  const text = openLine(ownerOf(file), line);
  if (text?.startsWith("{")) return { header: JSON.parse(text) as Header, legacy: false };
  const header = line.startsWith("{") ? parseJson(line) : undefined;
  return header === undefined ? undefined : { header: header as Header, legacy: true };
}

type Fields = readonly [order: number, timestamp: number, ingested: number, message: string, reason?: string];

export function recordLine(file: string, number: number, ...fields: Fields): string {
  return sealLine(ownerOf(file), `${number} ${JSON.stringify(fields)}`);
}

/** Returns undefined where the line is damaged. */
export function parseRecord(file: string, { start, end, text }: Line): LogRecord | undefined {
  if (text.startsWith("[")) {
    const fields = parseJson(text);
    return Array.isArray(fields) && fields.length === 4 ? { start, end, ...recordOf(fields as never) } : undefined;
  }
  const opened = openLine(ownerOf(file), text);
  const [, number, json] = /^(\d+) (\[.*)$/s.exec(opened ?? "") ?? [];
  if (json === undefined) return undefined;
  return { number: Number(number), start, end, ...recordOf(JSON.parse(json) as Fields) };
}

function recordOf([order, timestamp, ingested, message, reason]: Fields) {
  return { order, timestamp, ingested, message, ...(reason === undefined ? {} : { reason }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The record before another one, as far as it is known. */
export interface Predecessor {
  readonly number?: number | undefined;
  readonly order: number;
}

/** Whether a record lies before one that was written earlier. */
export function isMisplaced(record: LogRecord, before: Predecessor): boolean {
  return record.number !== undefined && before.number !== undefined && record.number <= before.number;
}

/**
 * Says what is damaged between two intact records that follow each other, or undefined.
 *
 * @param damagedLines whether damaged lines lie between them
 */
export function gapBetween(before: Predecessor, record: LogRecord, damagedLines: boolean): string | undefined {
  const reasons = [record.reason, missingIn(before, record, damagedLines)].filter((each) => each !== undefined);
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

function missingIn(before: Predecessor, { number }: LogRecord, damagedLines: boolean): string | undefined {
  const missing = number === undefined ? undefined : missingBetween((before.number ?? 0) + 1, number - 1);
  // Lines of versions without checksums have no numbers, which would show that one is missing.
  return missing ?? (damagedLines && before.number === undefined ? "records are damaged" : undefined);
}

/** Returns undefined where there is no record between two numbers, both included. */
export function missingBetween(first: number, last: number): string | undefined {
  if (last < first) return undefined;
  return first === last
    ? `record ${first} is damaged or missing`
    : `records ${first} to ${last} are damaged or missing`;
}

const repaired = " (found by a repair)";

/** What the note of a repair says: readers still see it, and nothing is left to repair. */
export function repairedReason(reason: string): string {
  return reason.endsWith(repaired) ? reason : reason + repaired;
}

export function isRepaired(reason: string): boolean {
  return reason.endsWith(repaired);
}

/** An event as a reader gets it. */
export interface StoredEvent {
  /** Where its line begins and ends in the file, in bytes. */
  readonly start: number;
  readonly end: number;
  readonly order: number;
  readonly timestamp: number;
  readonly ingested: number;
  /** Empty in a note. */
  readonly message: string;
  /** Reports damage between the event before and this one. */
  readonly damage?: DamageReport;
  /** The event is such a report, made for a reader. */
  readonly isReport?: true;
}

export interface DamageReport {
  readonly reason: string;
  /** The order of the event before the damage. */
  readonly after: number;
}
