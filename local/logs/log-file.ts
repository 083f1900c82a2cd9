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
}

const blockBytes = 64 * 1024;
const newline = 10;

export class LogFile {
  readonly file: string;
  readonly header: Header;
  /** Where the events begin. */
  readonly head: number;
  /** Where the last whole line ends. */
  #size: number;
  #lastOrder: number;

  private constructor(file: string, header: Header, head: number, size: number) {
    this.file = file;
    this.header = header;
    this.head = head;
    this.#size = size;
    this.#lastOrder = this.last()?.order ?? 0;
  }

  /** @throws ErrnoException EEXIST */
  static create(file: string, header: Header): LogFile {
    const line = Buffer.from(`${JSON.stringify(header)}\n`);
    fs.writeFileSync(file, line, { flag: "wx" });
    return new LogFile(file, header, line.length, line.length);
  }

  /** Undefined where there is none; one whose header was never finished counts as none, and is removed. */
  static open(file: string): LogFile | undefined {
    const size = fs.statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return undefined;
    const [first] = readLines(file, 0, size);
    if (!first) {
      fs.rmSync(file);
      return undefined;
    }
    const end = endOfLastLine(file, size);
    if (end < size) fs.truncateSync(file, end);
    return new LogFile(file, JSON.parse(first.text) as Header, first.end, end);
  }

  get size(): number {
    return this.#size;
  }

  append(events: readonly LogLine[], ingested: number): void {
    let order = this.#lastOrder;
    const lines = events.map(({ timestamp, message }) => {
      order = Math.max(order, timestamp);
      return `${JSON.stringify([order, timestamp, ingested, message])}\n`;
    });
    const bytes = Buffer.from(lines.join(""));
    try {
      fs.appendFileSync(this.file, bytes);
    } catch (error) {
      fs.truncateSync(this.file, this.#size);
      throw error;
    }
    this.#size += bytes.length;
    this.#lastOrder = order;
  }

  /** Events that begin at an offset or after it. */
  *forward(from: number): Generator<StoredEvent> {
    const start = this.#lineStart(from, this.#size);
    for (const line of readLines(this.file, start, this.#size)) yield parseEvent(line);
  }

  /** Events that end at or before an offset, the latest first. */
  *backward(before: number): Generator<StoredEvent> {
    let end = Math.min(before, this.#size);
    while (end > this.head) {
      let start = Math.max(this.head, end - blockBytes);
      // The block's first line may have begun before it; a line longer than a block makes the block grow.
      let lines = [...readLines(this.file, this.#lineStart(start, end), end)];
      while (lines.length === 0) {
        start = Math.max(this.head, start - blockBytes);
        lines = [...readLines(this.file, this.#lineStart(start, end), end)];
      }
      for (const line of lines.reverse()) yield parseEvent(line);
      end = lines.at(-1)!.start;
    }
  }

  first(): StoredEvent | undefined {
    return this.forward(this.head).next().value ?? undefined;
  }

  last(): StoredEvent | undefined {
    return this.backward(this.#size).next().value ?? undefined;
  }

  /** The offset of the first event whose order is at least this; the end where there is none. */
  seek(order: number): number {
    let low = this.head;
    let high = this.#size;
    // Invariant: events that begin before `low` are earlier; the event at `high`, if any, is not.
    while (low < high) {
      const middle = this.#lineStart(low + Math.floor((high - low) / 2), high);
      const event = middle < high ? parseEvent(readLines(this.file, middle, this.#size).next().value!) : undefined;
      if (event && event.order < order) low = event.end;
      else if (event && middle > low) high = middle;
      else {
        // No line begins in the upper half: walk the one or few lines of the lower.
        for (const candidate of this.forward(low)) {
          if (candidate.start >= high || candidate.order >= order) return Math.min(candidate.start, high);
        }
        return high;
      }
    }
    return low;
  }

  /** The offset of the first line that begins at or after `offset`, or `end`. */
  #lineStart(offset: number, end: number): number {
    if (offset <= this.head) return this.head;
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

function parseEvent({ start, end, text }: Line): StoredEvent {
  const [order, timestamp, ingested, message] = JSON.parse(text) as [number, number, number, string];
  return { start, end, order, timestamp, ingested, message };
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
