import path from "node:path";
import { openLine, sealLine } from "../storage/sealed-line";

/** A line of a log file without its line feed, with its position in bytes. */
export interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** An intact line. */
export interface LogRecord {
  /** The number of the record in the stream, from 1. Undefined in lines of releases without checksums. */
  readonly number?: number;
  readonly start: number;
  readonly end: number;
  /** The largest timestamp so far. */
  readonly order: number;
  readonly timestamp: number;
  readonly ingested: number;
  /** The message. It is empty in a note, which only reports damage before it. */
  readonly message: string;
  /** The report of a note. If undefined, the gap in the numbers before the note describes the damage. */
  readonly reason?: string;
}

export interface Header {
  readonly name: string;
  /** The creation time in milliseconds since the epoch. */
  readonly created: number;
  /** The position of the first remaining line. Undefined if no line was dropped. */
  readonly first?: number;
  /** The number of the last dropped record. Undefined if none was dropped, and in files without checksums. */
  readonly before?: number;
}

/** Returns the owner that a line's checksum covers in addition to its text: the file names of the group and the stream. */
export function ownerOf(file: string): string {
  return path.join(path.basename(path.dirname(file)), path.basename(file));
}

export function headerLine(file: string, header: Header): Buffer {
  return Buffer.from(sealLine(ownerOf(file), JSON.stringify(header)));
}

/** Parses a header. Returns undefined if it is damaged. */
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

/** Parses a line. Returns undefined if it is damaged. */
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

/** The known facts about the previous record. */
export interface Predecessor {
  readonly number?: number | undefined;
  readonly order: number;
}

/** Returns whether a record comes before one that was written earlier. */
export function isMisplaced(record: LogRecord, before: Predecessor): boolean {
  return record.number !== undefined && before.number !== undefined && record.number <= before.number;
}

/**
 * Describes the damage between two adjacent intact records, or returns undefined.
 *
 * @param damagedLines whether damaged lines are between them
 */
export function gapBetween(before: Predecessor, record: LogRecord, damagedLines: boolean): string | undefined {
  const reasons = [record.reason, missingIn(before, record, damagedLines)].filter((each) => each !== undefined);
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

function missingIn(before: Predecessor, { number }: LogRecord, damagedLines: boolean): string | undefined {
  const missing = number === undefined ? undefined : missingBetween((before.number ?? 0) + 1, number - 1);
  // Lines of releases without checksums have no numbers to show that one is missing.
  return missing ?? (damagedLines && before.number === undefined ? "records are damaged" : undefined);
}

/** Describes the missing records between two numbers, inclusive. Returns undefined if there are none. */
export function missingBetween(first: number, last: number): string | undefined {
  if (last < first) return undefined;
  return first === last
    ? `record ${first} is damaged or missing`
    : `records ${first} to ${last} are damaged or missing`;
}

const repaired = " (found by a repair)";

/** Returns the text for a note about repaired damage. Readers still see it, but nothing is left to repair. */
export function repairedReason(reason: string): string {
  return reason.endsWith(repaired) ? reason : reason + repaired;
}

export function isRepaired(reason: string): boolean {
  return reason.endsWith(repaired);
}

/** An event for readers. */
export interface StoredEvent {
  /** The start and end of its line in the file, in bytes. */
  readonly start: number;
  readonly end: number;
  readonly order: number;
  readonly timestamp: number;
  readonly ingested: number;
  /** The message. It is empty in a note. */
  readonly message: string;
  /** The damage between the previous event and this one. */
  readonly damage?: DamageReport;
  /** Whether the event is such a report, made for a reader. */
  readonly isReport?: true;
}

export interface DamageReport {
  readonly reason: string;
  /** The order of the event before the damage. */
  readonly after: number;
}
