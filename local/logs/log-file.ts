import fs from "node:fs";
import type { LogLine } from "../service";

interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Header {
  readonly name: string;
  readonly created: number;
  /** The position of the first remaining line. Undefined if no line was dropped. */
  readonly first?: number;
}

export interface StoredEvent {
  readonly start: number;
  readonly end: number;
  /** The largest timestamp so far. */
  readonly order: number;
  readonly timestamp: number;
  readonly ingested: number;
  readonly message: string;
}

function eventLine({ order, timestamp, ingested, message }: Omit<StoredEvent, "start" | "end">): string {
  return `${JSON.stringify([order, timestamp, ingested, message])}\n`;
}

function parseEvent({ start, end, text }: Line): StoredEvent | undefined {
  try {
    const [order, timestamp, ingested, message] = JSON.parse(text) as [number, number, number, string];
    return { start, end, order, timestamp, ingested, message };
  } catch {
    return undefined;
  }
}

const blockBytes = 64 * 1024;
const newline = 10;

function* readLines(file: string, from: number, to: number): Generator<Line, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let start = from;
  for (const { block } of readBlocks(file, from, to)) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, block]) : block;
    let at = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, at)) {
      const length = end + 1 - at;
      yield { start, end: start + length, text: bytes.toString("utf8", at, end) };
      start += length;
      at = end + 1;
    }
    rest = bytes.subarray(at);
  }
  return undefined;
}

/**
 * Reads a file in blocks. The file is opened for each block: many streams may be read in parallel, and a reader that
 * stops leaves no file open.
 */
function* readBlocks(
  file: string,
  from: number,
  to: number,
): Generator<{ readonly at: number; readonly block: Buffer }> {
  for (let at = from; at < to; ) {
    const block = Buffer.allocUnsafe(Math.min(blockBytes, to - at));
    const descriptor = fs.openSync(file, "r");
    let bytes: number;
    try {
      bytes = fs.readSync(descriptor, block, 0, block.length, at);
    } finally {
      fs.closeSync(descriptor);
    }
    if (bytes === 0) return;
    yield { at, block: block.subarray(0, bytes) };
    at += bytes;
  }
}

/** Returns the end of the last line feed before an offset, or 0 if there is none. */
function endOfLastLine(file: string, size: number): number {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - blockBytes);
    for (const { block } of readBlocks(file, start, end)) {
      const index = block.lastIndexOf(newline);
      if (index >= 0) return start + index + 1;
    }
    end = start;
  }
  return 0;
}

/** The default limit on a stream's file, in bytes. */
const defaultBound = 32 * 1024 * 1024;

/**
 * The events of one stream, appended to one file, one line each: `[order, timestamp, ingested, message]`. The first line
 * is the header, `{"name":…,"created":…}`.
 *
 * `order` is the largest timestamp so far. It never decreases, even if the writers' clocks differ, so a time is found
 * by bisection and streams can be merged. Readers see and filter by the timestamp.
 *
 * An append is one write. An interrupted append (by a kill or a full disk) leaves an incomplete last line, which is cut
 * off. Readers skip a line that is no JSON.
 *
 * A file that would exceed its limit drops its oldest half, by a new file and a rename. Positions in the stream stay
 * valid: they count from the stream's first byte, and the header contains the position of the first remaining line.
 */
export class LogFile {
  readonly file: string;
  readonly header: Header;
  private readonly bound: number;
  private headInFile: number;
  private bytesInFile: number;
  private shift: number;
  private lastOrder: number;

  private constructor(file: string, header: Header, head: number, size: number, bound = defaultBound) {
    this.file = file;
    this.header = header;
    this.bound = bound;
    this.headInFile = head;
    this.bytesInFile = size;
    this.shift = (header.first ?? head) - head;
    this.lastOrder = this.last()?.order ?? 0;
  }

  /**
   * Creates a log file.
   * @throws ErrnoException EEXIST
   */
  static create(file: string, header: Header, bound?: number): LogFile {
    const line = headerLine(header);
    fs.writeFileSync(file, line, { flag: "wx", mode: 0o600 });
    return new LogFile(file, header, line.length, line.length, bound);
  }

  /**
   * Opens a log file, or returns undefined if it does not exist. A file with an incomplete header, which a kill may
   * leave, is removed and counts as missing.
   */
  static open(file: string, bound?: number): LogFile | undefined {
    const size = fs.statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return undefined;
    const [first] = readLines(file, 0, size);
    if (!first) {
      fs.rmSync(file);
      return undefined;
    }
    const end = endOfLastLine(file, size);
    if (end < size) fs.truncateSync(file, end);
    return new LogFile(file, parseHeader(file, first.text), first.end, end, bound);
  }

  get head(): number {
    return this.headInFile + this.shift;
  }

  get size(): number {
    return this.bytesInFile + this.shift;
  }

  append(events: readonly LogLine[], ingested: number): void {
    let order = this.lastOrder;
    const lines = events.map(({ timestamp, message }) => {
      order = Math.max(order, timestamp);
      return eventLine({ order, timestamp, ingested, message });
    });
    const bytes = Buffer.from(lines.join(""));
    if (this.bytesInFile + bytes.length > this.bound) this.dropOldest();
    try {
      fs.appendFileSync(this.file, bytes);
    } catch (error) {
      fs.truncateSync(this.file, this.bytesInFile);
      throw error;
    }
    this.bytesInFile += bytes.length;
    this.lastOrder = order;
  }

  private dropOldest(): void {
    const from = this.lineStart(this.bytesInFile - Math.floor(this.bound / 2), this.bytesInFile);
    const header = headerLine({ ...this.header, first: from + this.shift });
    const unfinished = `${this.file}.tmp`;
    const kept = fs.readFileSync(this.file).subarray(from, this.bytesInFile);
    fs.writeFileSync(unfinished, Buffer.concat([header, kept]), { mode: 0o600 });
    fs.renameSync(unfinished, this.file);
    this.shift += from - header.length;
    this.headInFile = header.length;
    this.bytesInFile = header.length + kept.length;
  }

  *forward(from: number): Generator<StoredEvent> {
    const start = this.lineStart(from - this.shift, this.bytesInFile);
    for (const line of readLines(this.file, start, this.bytesInFile)) {
      const event = parseEvent(line);
      if (event) yield this.shifted(event);
    }
  }

  *backward(before: number): Generator<StoredEvent> {
    for (const line of this.linesBefore(before - this.shift)) {
      const event = parseEvent(line);
      if (event) yield this.shifted(event);
    }
  }

  private shifted(event: StoredEvent): StoredEvent {
    return { ...event, start: event.start + this.shift, end: event.end + this.shift };
  }

  private *linesBefore(offset: number): Generator<Line> {
    let end = Math.min(offset, this.bytesInFile);
    while (end > this.headInFile) {
      let start = Math.max(this.headInFile, end - blockBytes);
      // The first line of the block may begin before it. The block grows if a line is longer than a block.
      let lines = [...readLines(this.file, this.lineStart(start, end), end)];
      while (lines.length === 0 && start > this.headInFile) {
        start = Math.max(this.headInFile, start - blockBytes);
        lines = [...readLines(this.file, this.lineStart(start, end), end)];
      }
      const [first] = lines;
      if (!first) return;
      yield* lines.reverse();
      end = first.start;
    }
  }

  last(): StoredEvent | undefined {
    return this.backward(this.size).next().value ?? undefined;
  }

  /** Returns the position of the first event whose order is at least this, or the end if there is none. */
  seek(order: number): number {
    return this.seekInFile(order) + this.shift;
  }

  private seekInFile(order: number): number {
    let low = this.headInFile;
    let high = this.bytesInFile;
    // Invariant: events that begin before `low` have a smaller order. The event at `high`, if any, does not.
    while (low < high) {
      const middle = this.lineStart(low + Math.floor((high - low) / 2), high);
      const event = middle < high ? this.eventFrom(middle, high) : undefined;
      if (event && event.order < order) low = event.end;
      else if (event && middle > low) high = middle;
      else {
        // No intact line begins in the upper half, so the lines of the lower half are read in turn.
        for (const line of readLines(this.file, low, this.bytesInFile)) {
          if (line.start >= high) return high;
          const event = parseEvent(line);
          if (event && event.order >= order) return line.start;
        }
        return high;
      }
    }
    return low;
  }

  private eventFrom(offset: number, end: number): StoredEvent | undefined {
    for (const line of readLines(this.file, offset, this.bytesInFile)) {
      if (line.start >= end) return undefined;
      const event = parseEvent(line);
      if (event) return event;
    }
    return undefined;
  }

  /** Returns the offset of the first line that begins at or after `offset`, or `end`. */
  private lineStart(offset: number, end: number): number {
    if (offset <= this.headInFile) return this.headInFile;
    for (const { at, block } of readBlocks(this.file, offset - 1, end)) {
      const index = block.indexOf(newline);
      if (index >= 0) return at + index + 1;
    }
    return end;
  }
}

const headerLine = (header: Header): Buffer => Buffer.from(`${JSON.stringify(header)}\n`);

function parseHeader(file: string, line: string): Header {
  try {
    return JSON.parse(line) as Header;
  } catch (cause) {
    throw new Error(`The first line of the log ${file} is damaged`, { cause });
  }
}
