import { isUtf8 } from "node:buffer";
import type { Problem } from "../../../core/errors";
import { documentLimits } from "../../../core/json-text";
import { formatBytes } from "../../../core/quantities";
import { parseCsvHeader, splitFields } from "./csv-header";
import { defaultLimits, ExpansionError, openBytes } from "./expansion";

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Finds the first row of a JSON file with more levels than the limit. DuckDB's reader is recursive, and a value of
 * 100,000 levels ends the process. Malformed JSON is counted as it is written.
 */
class JsonDepth {
  private depth = 0;
  private rows = 0;
  /** The depth outside of a row: 1 in a file that is one list. */
  private outside: number | undefined;
  private inText = false;
  private escaped = false;

  /** Reads the next bytes. @returns the number of the row, from 1 */
  push(chunk: Buffer): number | undefined {
    let { depth, outside, inText, escaped } = this;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (inText) {
        // No text of JSON contains a newline.
        if (byte === newline || (byte === quote && !escaped)) inText = false;
        escaped = byte === backslash && !escaped;
      } else if (byte === quote) inText = true;
      // One bit distinguishes a bracket from a brace.
      else if ((byte & 0xdf) === openBracket) {
        outside ??= byte === openBracket ? 1 : 0;
        if (depth === outside) this.rows += 1;
        depth += 1;
        if (depth - outside > documentLimits.depth) return Math.max(1, this.rows);
      } else if ((byte & 0xdf) === closeBracket && depth > 0) depth -= 1;
    }
    Object.assign(this, { depth, outside, inText, escaped });
    return undefined;
  }
}

/** The maximum length of a line that DuckDB reads, in bytes. */
const maxLineBytes = 2_097_152;
const newline = 0x0a;
const depthRule = `must have at most ${documentLimits.depth} levels of lists and objects; write its deep values as text`;

/** Byte order marks of encodings that are not UTF-8, longest first. */
const marks: readonly (readonly [string, Buffer])[] = [
  ["UTF-32LE", Buffer.from([0xff, 0xfe, 0, 0])],
  ["UTF-32BE", Buffer.from([0, 0, 0xfe, 0xff])],
  ["UTF-16LE", Buffer.from([0xff, 0xfe])],
  ["UTF-16BE", Buffer.from([0xfe, 0xff])],
];

/** First bytes of files that are no text. */
const binaries: readonly (readonly [name: string, Buffer, next: string])[] = [
  ["a ZIP archive or an Excel workbook", Buffer.from("PK\x03\x04"), "save the sheet or the file in it as CSV"],
  ["Parquet", Buffer.from("PAR1"), "name it .parquet"],
  ["Arrow", Buffer.from("ARROW1"), "convert it to Parquet"],
  ["gzip", Buffer.from([0x1f, 0x8b]), "add .gz to its name"],
];

/**
 * Reads a text file once, in bounded memory, and returns its first problem: another encoding, a NUL, a long line, or a
 * gzip file that is cut or expands too far. DuckDB omits a last line that is longer than its buffer, and the rows after
 * the cut of a gzip file, without an error.
 *
 * @param kind the first line of `csv` names columns, so that the problem names the column; of `json` the depth is limited
 */
export async function scanText(
  file: string,
  kind: "csv" | "json",
  limits = defaultLimits(),
): Promise<Problem | undefined> {
  const header = kind === "csv";
  const depth = kind === "json" ? new JsonDepth() : undefined;
  let at = 0;
  let lineLength = 0;
  let carry = Buffer.alloc(0);
  try {
    for await (const chunk of openBytes(file, limits) as AsyncIterable<Buffer>) {
      if (at === 0) {
        const mark = marks.find(([, bytes]) => chunk.subarray(0, bytes.length).equals(bytes));
        const binary = binaries.find(([, bytes]) => chunk.subarray(0, bytes.length).equals(bytes));
        if (binary) return { path: "", rule: `must be text, and is ${binary[0]}; ${binary[2]}` };
        if (mark) return { path: "", rule: encodingRule(file, mark[0], "begins with its byte order mark") };
      }
      const long = offsetOfLongLine(chunk, lineLength);
      const nul = chunk.indexOf(0);
      const bytes = carry.length > 0 ? Buffer.concat([carry, chunk]) : chunk;
      const end = bytes.length - cutCharacter(bytes);
      if (nul >= 0 || !isUtf8(bytes.subarray(0, end))) {
        const invalid = nul >= 0 ? at + nul : at - carry.length + invalidByte(bytes.subarray(0, end));
        return await characterProblem(file, invalid, header, limits);
      }
      if (long !== undefined) return await lineProblem(file, at + long, header, limits);
      const deep = depth?.push(chunk);
      if (deep !== undefined) return { path: `row ${deep}`, rule: depthRule };
      carry = Buffer.from(bytes.subarray(end));
      const last = chunk.lastIndexOf(newline);
      lineLength = last < 0 ? lineLength + chunk.length : chunk.length - last - 1;
      at += chunk.length;
    }
  } catch (error) {
    if (error instanceof ExpansionError) return { path: "", rule: error.message };
    if (!isZlib(error)) throw error;
    return { path: "", rule: `must be a complete gzip file: ${error.message}; compress or copy it again` };
  }
  return carry.length > 0 ? await characterProblem(file, at - carry.length, header, limits) : undefined;
}

/** Returns the first line of a text file without its end, LF, CR or CR LF, and without a byte order mark. */
export async function readFirstLine(file: string): Promise<string> {
  let line = Buffer.alloc(0);
  for await (const chunk of openBytes(file) as AsyncIterable<Buffer>) {
    line = Buffer.concat([line, chunk]);
    const end = line.findIndex((byte) => byte === newline || byte === 0x0d);
    if (end >= 0 || line.length > maxLineBytes) {
      line = line.subarray(0, end >= 0 ? end : maxLineBytes);
      break;
    }
  }
  return line.toString("utf8").replace(/^\ufeff/, "");
}

/** Finds the first line of a CSV file that ends in another way than its first one, LF or CR LF. DuckDB reads no such file. */
export async function findOtherEnd(file: string): Promise<Problem | undefined> {
  let [line, quoted, before] = [1, false, 0];
  let first: boolean | undefined;
  for await (const chunk of openBytes(file) as AsyncIterable<Buffer>) {
    for (const byte of chunk) {
      if (byte === 0x22) quoted = !quoted;
      if (byte === newline) {
        const returns = before === 0x0d;
        first ??= returns;
        if (!quoted && returns !== first) {
          const name = file.replace(/\.gz$/, "");
          const rule = `must end like the first line, with ${first ? "CR LF" : "LF"}; convert the file: sed 's/\\r$//' ${name} > lf-${name.split("/").at(-1)}`;
          return { path: "", rule, line };
        }
        line += 1;
      }
      before = byte;
    }
  }
  return undefined;
}

function isZlib(error: unknown): error is Error {
  return error instanceof Error && /^Z_/.test(String((error as NodeJS.ErrnoException).code));
}

/** Returns an offset in a line that is too long; a negative one lies before the chunk. */
function offsetOfLongLine(chunk: Buffer, before: number): number | undefined {
  let start = -before;
  let end = chunk.indexOf(newline);
  // A chunk is shorter than the limit, so only its first line can be too long, unless a stream gives larger chunks.
  for (; chunk.length - start > maxLineBytes; end = chunk.indexOf(newline, start)) {
    if ((end < 0 ? chunk.length : end) - start > maxLineBytes) return start;
    if (end < 0) return undefined;
    start = end + 1;
  }
  return undefined;
}

/** Returns how many bytes at the end begin a character that is not complete. */
function cutCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

/** Returns the offset of the first byte that is not UTF-8, by halving. */
function invalidByte(bytes: Buffer): number {
  let [valid, invalid] = [0, bytes.length];
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    const part = bytes.subarray(0, middle);
    if (isUtf8(part.subarray(0, middle - cutCharacter(part)))) valid = middle;
    else invalid = middle;
  }
  // The byte that makes a sequence invalid may follow its first one.
  return invalid - 1 - cutCharacter(bytes.subarray(0, invalid - 1));
}

/** @param offset at which the line begins; the column is that of the byte that exceeds the limit */
async function lineProblem(file: string, offset: number, header: boolean, limits = defaultLimits()): Promise<Problem> {
  const { line, before, first } = await placeOf(file, offset + maxLineBytes, limits);
  const column = header && line > 1 ? columnAt(first, before) : undefined;
  const rule = `must have lines of at most ${formatBytes(maxLineBytes)}, and this one is longer; write one row a line`;
  return { path: column === undefined ? "" : `column ${column}`, rule, line };
}

async function characterProblem(
  file: string,
  offset: number,
  header: boolean,
  limits = defaultLimits(),
): Promise<Problem> {
  const { line, before, byte, first } = await placeOf(file, offset, limits);
  const column = header && line > 1 ? columnAt(first, before) : undefined;
  const path = column === undefined ? "" : `column ${column}`;
  const hex = `0x${(byte ?? 0).toString(16).padStart(2, "0").toUpperCase()}`;
  if (byte === 0) {
    // Latin letters in UTF-16 have a zero in every second byte.
    const rule = encodingRule(file, "UTF-16LE", "has a zero byte: it is UTF-16 without a byte order mark, or binary");
    return { path, rule, line };
  }
  return { path, rule: encodingRule(file, "WINDOWS-1252", `has the byte ${hex}: it looks like Latin-1`), line };
}

function encodingRule(file: string, encoding: string, seen: string): string {
  const name = file.replace(/\.gz$/, "");
  return `must be UTF-8, and it ${seen} (${encoding}); convert it: iconv -f ${encoding} -t UTF-8 ${name} > utf8-${name.split("/").at(-1)}`;
}

/** Returns the name of the column in which a line's text ends. */
function columnAt(first: Buffer, before: Buffer): string | undefined {
  const { delimiter, names } = parseCsvHeader(first.toString("utf8").replace(/^\ufeff/, ""));
  return names[splitFields(before.toString("latin1"), delimiter).length - 1];
}

/** Reads a file again up to an offset: the number of the line there (from 1), its start, and the file's first line. */
async function placeOf(
  file: string,
  offset: number,
  limits = defaultLimits(),
): Promise<{
  readonly line: number;
  readonly before: Buffer;
  readonly byte: number | undefined;
  readonly first: Buffer;
}> {
  let [line, at, start] = [1, 0, Buffer.alloc(0)];
  let first: Buffer | undefined;
  for await (const chunk of openBytes(file, limits) as AsyncIterable<Buffer>) {
    const until = Math.min(chunk.length, offset - at);
    for (let from = 0; ; ) {
      const end = chunk.indexOf(newline, from);
      if (end < 0 || end >= until) {
        start = Buffer.concat([start, chunk.subarray(from, until)]).subarray(0, maxLineBytes);
        break;
      }
      first ??= Buffer.concat([start, chunk.subarray(from, end)]);
      start = Buffer.alloc(0);
      line += 1;
      from = end + 1;
    }
    if (at + chunk.length > offset)
      return { line, before: start, byte: chunk[offset - at], first: first ?? Buffer.alloc(0) };
    at += chunk.length;
  }
  return { line, before: start, byte: undefined, first: first ?? Buffer.alloc(0) };
}
