import fs from "node:fs";
import type { LogLine } from "../log-appender";

/**
 * One stream's events, appended to one file, a JSON array a line: `[order, timestamp, ingested, message]`. The first line
 * is the header, `{"name":…,"created":…}`.
 *
 * `order` is the largest timestamp so far. It never falls, whatever the clocks of those who append, so a place in time is
 * found by bisection, and streams merge; the timestamp itself is what is shown and filtered by.
 *
 * An append is one write. One that is cut short (a kill, a full disk) leaves an unfinished last line, which is cut off before the next.
 *
 * A file that would grow beyond its bound drops its oldest half, by a new file and a rename. Places in the stream stay valid: they count from the
 * stream's first byte, and the header tells where the first kept line is.
 */
export interface StoredEvent {
  /** Where its line begins and ends in the file, in bytes. */
  readonly start: number;
  readonly end: number;
  readonly order: number;
  readonly timestamp: number;
  readonly ingested: number;
  readonly message: string;
}

export interface Header {
  readonly name: string;
  readonly created: number;
  /** Place of the first line that is kept; absent where all are. */
  readonly first?: number;
}

/** Bytes of one stream's file, by default. */
const usualBound = 32 * 1024 * 1024;
const blockBytes = 64 * 1024;
const newline = 10;

export class LogFile {
  readonly file: string;
  readonly header: Header;
  readonly #bound: number;
  /** Where the events begin in the file. */
  #head: number;
  /** Where the last whole line ends in the file. */
  #size: number;
  /** Place in the stream less place in the file. */
  #shift: number;
  #lastOrder: number;

  private constructor(file: string, header: Header, head: number, size: number, bound = usualBound) {
    this.file = file;
    this.header = header;
    this.#bound = bound;
    this.#head = head;
    this.#size = size;
    this.#shift = (header.first ?? head) - head;
    this.#lastOrder = this.last()?.order ?? 0;
  }

  /** @throws ErrnoException EEXIST */
  static create(file: string, header: Header, bound?: number): LogFile {
    const line = headerLine(header);
    fs.writeFileSync(file, line, { flag: "wx", mode: 0o600 });
    return new LogFile(file, header, line.length, line.length, bound);
  }

  /** Undefined where there is none; one whose header was never finished counts as none, and is removed. */
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
    return new LogFile(file, JSON.parse(first.text) as Header, first.end, end, bound);
  }

  /** The place where the events begin. */
  get head(): number {
    return this.#head + this.#shift;
  }

  /** The place where the events end. */
  get size(): number {
    return this.#size + this.#shift;
  }

  append(events: readonly LogLine[], ingested: number): void {
    let order = this.#lastOrder;
    const lines = events.map(({ timestamp, message }) => {
      order = Math.max(order, timestamp);
      return `${JSON.stringify([order, timestamp, ingested, message])}\n`;
    });
    const bytes = Buffer.from(lines.join(""));
    if (this.#size + bytes.length > this.#bound) this.#dropOldest();
    try {
      fs.appendFileSync(this.file, bytes);
    } catch (error) {
      fs.truncateSync(this.file, this.#size);
      throw error;
    }
    this.#size += bytes.length;
    this.#lastOrder = order;
  }

  /** Keeps the newest lines, up to half the bound. The rename is the moment at which the others are gone. */
  #dropOldest(): void {
    const from = this.#lineStart(this.#size - Math.floor(this.#bound / 2), this.#size);
    const header = headerLine({ ...this.header, first: from + this.#shift });
    const unfinished = `${this.file}.tmp`;
    const kept = fs.readFileSync(this.file).subarray(from, this.#size);
    fs.writeFileSync(unfinished, Buffer.concat([header, kept]), { mode: 0o600 });
    fs.renameSync(unfinished, this.file);
    this.#shift += from - header.length;
    this.#head = header.length;
    this.#size = header.length + kept.length;
  }

  /** Events that begin at a place or after it. */
  *forward(from: number): Generator<StoredEvent> {
    const start = this.#lineStart(from - this.#shift, this.#size);
    for (const line of readLines(this.file, start, this.#size)) yield parseEvent(line, this.#shift);
  }

  /** Events that end at or before a place, the latest first. */
  *backward(before: number): Generator<StoredEvent> {
    let end = Math.min(before - this.#shift, this.#size);
    while (end > this.#head) {
      let start = Math.max(this.#head, end - blockBytes);
      // The block's first line may have begun before it; a line longer than a block makes the block grow.
      let lines = [...readLines(this.file, this.#lineStart(start, end), end)];
      while (lines.length === 0) {
        start = Math.max(this.#head, start - blockBytes);
        lines = [...readLines(this.file, this.#lineStart(start, end), end)];
      }
      for (const line of lines.reverse()) yield parseEvent(line, this.#shift);
      end = lines.at(-1)!.start;
    }
  }

  first(): StoredEvent | undefined {
    return this.forward(this.head).next().value ?? undefined;
  }

  last(): StoredEvent | undefined {
    return this.backward(this.size).next().value ?? undefined;
  }

  /** The place of the first event whose order is at least this; the end where there is none. */
  seek(order: number): number {
    return this.#seek(order) + this.#shift;
  }

  #seek(order: number): number {
    let low = this.#head;
    let high = this.#size;
    // Invariant: events that begin before `low` are earlier; the event at `high`, if any, is not.
    while (low < high) {
      const middle = this.#lineStart(low + Math.floor((high - low) / 2), high);
      const event = middle < high ? parseEvent(readLines(this.file, middle, this.#size).next().value!, 0) : undefined;
      if (event && event.order < order) low = event.end;
      else if (event && middle > low) high = middle;
      else {
        // No line begins in the upper half: walk the one or few lines of the lower.
        for (const line of readLines(this.file, low, this.#size)) {
          if (line.start >= high || parseEvent(line, 0).order >= order) return Math.min(line.start, high);
        }
        return high;
      }
    }
    return low;
  }

  /** The offset of the first line that begins at or after `offset`, or `end`. */
  #lineStart(offset: number, end: number): number {
    if (offset <= this.#head) return this.#head;
    for (const { at, block } of readBlocks(this.file, offset - 1, end)) {
      const found = block.indexOf(newline);
      if (found >= 0) return at + found + 1;
    }
    return end;
  }
}

interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function headerLine(header: Header): Buffer {
  return Buffer.from(`${JSON.stringify(header)}\n`);
}

function parseEvent({ start, end, text }: Line, shift: number): StoredEvent {
  const [order, timestamp, ingested, message] = JSON.parse(text) as [number, number, number, string];
  return { start: start + shift, end: end + shift, order, timestamp, ingested, message };
}

/** Whole lines between two offsets, of which the first is where a line begins. */
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

/** The file is opened for each block: many streams may be read side by side, and none is left open by a reader that stops. */
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

function endOfLastLine(file: string, size: number): number {
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - blockBytes);
    for (const { block } of readBlocks(file, start, end)) {
      const found = block.lastIndexOf(newline);
      if (found >= 0) return start + found + 1;
    }
    end = start;
  }
  return 0;
}
