import fs from "node:fs";
import type { LogLine } from "../service";
import { blockBytes, newline, readBlocks, readLines } from "./file-lines";
import { discardRemains, type Found, findLog } from "./find-log";
import {
  gapBetween,
  type Header,
  headerLine,
  isMisplaced,
  isRepaired,
  type Line,
  type LogRecord,
  missingBetween,
  type Predecessor,
  parseRecord,
  recordLine,
  type StoredEvent,
} from "./log-record";
import { removeLog, writeLogSeal } from "./log-seal";

/** The default limit on a stream's file, in bytes. */
const defaultBound = 32 * 1024 * 1024;

/**
 * The events of one stream, appended to one file, one line each: `CRC NUMBER [order, timestamp, ingested, message]`.
 * The first line is the header, `CRC {"name":…,"created":…}`. Earlier releases wrote the same lines without checksum
 * and number.
 *
 * `order` is the largest timestamp so far. It never decreases, even if the writers' clocks differ, so a time is found
 * by bisection and streams can be merged. Readers see and filter by the timestamp.
 *
 * An append is one write, followed by a write of the seal. An interrupted append (by a kill or a full disk) leaves an
 * incomplete last line. If the file contains every record that the seal counts, that line is cut off before the next
 * append.
 *
 * Damage never stops a reader. The numbers show which records are damaged, missing or misplaced. The next intact event
 * carries a report of them. If the end of a file is lost, `open` appends a note for the report: an event without a
 * message.
 *
 * A file that would exceed its limit drops its oldest half, by a new file and a rename. Positions in the stream stay
 * valid: they count from the stream's first byte, and the header contains the position of the first remaining line.
 */
export class LogFile {
  readonly file: string;
  readonly header: Header;
  private readonly bound: number;
  /** The start of the events in the file. */
  private headInFile: number;
  /** The end of the last complete line in the file. */
  private bytesInFile: number;
  /** The difference between a position in the stream and the offset in the file. */
  private shift: number;
  private lastOrder: number;
  /** The number of the last record. */
  private number: number;
  /** The header in the file. */
  private current: Header;
  private sealed = false;

  private constructor(file: string, header: Header, head: number, size: number, bound = defaultBound) {
    this.file = file;
    this.header = header;
    this.current = header;
    this.bound = bound;
    this.headInFile = head;
    this.bytesInFile = size;
    this.shift = (header.first ?? head) - head;
    const last = this.recordBefore(size);
    this.lastOrder = last.order;
    this.number = last.number ?? 0;
  }

  /**
   * Creates a log file.
   * @throws ErrnoException EEXIST
   */
  static create(file: string, { name, created }: Header, bound?: number): LogFile {
    const header = { name, created, before: 0 };
    const line = headerLine(file, header);
    fs.writeFileSync(file, line, { flag: "wx", mode: 0o600 });
    const log = new LogFile(file, header, line.length, line.length, bound);
    log.seal();
    return log;
  }

  /**
   * Opens a log file, or returns undefined if it does not exist. A file with an incomplete header is removed and counts
   * as missing.
   */
  static open(file: string, bound?: number): LogFile | undefined {
    const found = findLog(file);
    if (!found) {
      discardRemains(file);
      return undefined;
    }
    const { header, head, end, fileSize, seal } = found;
    if (head === undefined) {
      const line = headerLine(file, header);
      fs.writeFileSync(file, line, { mode: 0o600 });
      const log = new LogFile(file, header, line.length, line.length, bound);
      log.acceptEnd(found);
      return log;
    }
    const log = new LogFile(file, header, head, end, bound);
    if (end < fileSize && log.number < (seal?.records ?? 0)) {
      // This is part of an acknowledged record. It is kept for a manual repair.
      fs.appendFileSync(file, "\n");
      log.bytesInFile = fileSize + 1;
    } else if (end < fileSize) fs.truncateSync(file, end);
    log.acceptEnd(found);
    return log;
  }

  /** Reports all damage of a file without changing it. */
  static inspect(file: string): readonly string[] {
    const found = findLog(file);
    if (!found) return [];
    const { header, head, end, seal, reason } = found;
    const log = head === undefined ? undefined : new LogFile(file, header, head, end);
    const last = log ? log.number : (header.before ?? 0);
    const gaps = log
      ? [...log.forward(log.head)].flatMap(({ damage }) =>
          damage && !isRepaired(damage.reason) ? [damage.reason] : [],
        )
      : [];
    const missing = missingBetween(last + 1, seal?.records ?? 0);
    return [...gaps, ...(missing === undefined ? [] : [missing]), ...(reason === undefined ? [] : [reason])];
  }

  static remove(file: string): void {
    removeLog(file, findLog(file)?.header ?? { name: "", created: 0 });
  }

  /** Compares the end of the file with the seal. A note replaces lost records. */
  private acceptEnd({ seal, legacy, reason }: Found): void {
    this.sealed = seal !== undefined;
    const records = seal?.records ?? 0;
    if (records <= this.number && reason === undefined) {
      if (!legacy && !this.sealed) this.seal();
      return;
    }
    this.number = Math.max(records, this.number);
    const order = Math.max(this.lastOrder, this.header.created);
    this.write([{ timestamp: order, message: "" }], order, reason);
  }

  private seal(): void {
    writeLogSeal(this.file, { header: this.current, records: this.number });
    this.sealed = true;
  }

  /** The position where the events begin. */
  get head(): number {
    return this.headInFile + this.shift;
  }

  /** The position where the events end. */
  get size(): number {
    return this.bytesInFile + this.shift;
  }

  append(events: readonly LogLine[], ingested: number): void {
    this.write(events, ingested);
  }

  private write(events: readonly LogLine[], ingested: number, reason?: string): void {
    let order = this.lastOrder;
    const lines = events.map(({ timestamp, message }, i) => {
      order = Math.max(order, timestamp);
      const number = this.number + 1 + i;
      return recordLine(
        this.file,
        number,
        order,
        timestamp,
        ingested,
        message,
        ...(reason === undefined ? [] : [reason]),
      );
    });
    const bytes = Buffer.from(lines.join(""));
    if (this.bytesInFile + bytes.length > this.bound) this.dropOldest();
    // Without a seal, a sealed record would look as if the seal were lost.
    if (!this.sealed) this.seal();
    try {
      fs.appendFileSync(this.file, bytes);
    } catch (error) {
      fs.truncateSync(this.file, this.bytesInFile);
      throw error;
    }
    this.bytesInFile += bytes.length;
    this.lastOrder = order;
    this.number += events.length;
    this.seal();
  }

  /** Drops the oldest lines and keeps up to half the limit. The rename removes them. */
  private dropOldest(): void {
    const from = this.lineStart(this.bytesInFile - Math.floor(this.bound / 2), this.bytesInFile);
    const { number } = this.recordBefore(from);
    const { name, created } = this.header;
    this.current = {
      name,
      created,
      first: from + this.shift,
      ...(number === undefined ? {} : { before: number }),
    };
    const header = headerLine(this.file, this.current);
    const unfinished = `${this.file}.tmp`;
    const kept = fs.readFileSync(this.file).subarray(from, this.bytesInFile);
    fs.writeFileSync(unfinished, Buffer.concat([header, kept]), { mode: 0o600 });
    fs.renameSync(unfinished, this.file);
    this.shift += from - header.length;
    this.headInFile = header.length;
    this.bytesInFile = header.length + kept.length;
  }

  /** Yields the events that begin at or after a position. */
  *forward(from: number): Generator<StoredEvent> {
    const start = this.lineStart(from - this.shift, this.bytesInFile);
    let before = this.recordBefore(start);
    let damagedLines = false;
    for (const line of readLines(this.file, start, this.bytesInFile)) {
      const record = parseRecord(this.file, line);
      if (!record || isMisplaced(record, before)) {
        damagedLines = true;
        continue;
      }
      yield this.event(record, before, damagedLines);
      before = record;
      damagedLines = false;
    }
  }

  /** Yields the events that end at or before a position, the latest first. */
  *backward(before: number): Generator<StoredEvent> {
    let later: LogRecord | undefined;
    let damagedLines = false;
    for (const line of this.linesBefore(before - this.shift)) {
      const record = parseRecord(this.file, line);
      if (!record || (later && isMisplaced(later, record))) {
        damagedLines = true;
        continue;
      }
      if (later) yield this.event(later, record, damagedLines);
      later = record;
      damagedLines = false;
    }
    if (later) yield this.event(later, this.beforeHead, damagedLines);
  }

  private event(record: LogRecord, before: Predecessor, damagedLines: boolean): StoredEvent {
    const { start, end, order, timestamp, ingested, message } = record;
    const reason = gapBetween(before, record, damagedLines);
    const event = { start: start + this.shift, end: end + this.shift, order, timestamp, ingested, message };
    return reason === undefined ? event : { ...event, damage: { reason, after: before.order } };
  }

  private get beforeHead(): Predecessor {
    return { number: this.current.before, order: 0 };
  }

  /** Returns the last intact record that ends at or before an offset. */
  private recordBefore(offset: number): Predecessor {
    for (const line of this.linesBefore(offset)) {
      const record = parseRecord(this.file, line);
      if (record) return record;
    }
    return this.beforeHead;
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

  first(): StoredEvent | undefined {
    return this.forward(this.head).next().value ?? undefined;
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
      const event = middle < high ? this.recordFrom(middle, high) : undefined;
      if (event && event.order < order) low = event.end;
      else if (event && middle > low) high = middle;
      else {
        // No intact line begins in the upper half, so the lines of the lower half are read in turn.
        for (const line of readLines(this.file, low, this.bytesInFile)) {
          if (line.start >= high) return high;
          const record = parseRecord(this.file, line);
          if (record && record.order >= order) return line.start;
        }
        return high;
      }
    }
    return low;
  }

  /** Returns the first intact record that begins between two offsets. */
  private recordFrom(offset: number, end: number): LogRecord | undefined {
    for (const line of readLines(this.file, offset, this.bytesInFile)) {
      if (line.start >= end) return undefined;
      const record = parseRecord(this.file, line);
      if (record) return record;
    }
    return undefined;
  }

  /** Returns the offset of the first line that begins at or after `offset`, or `end`. */
  private lineStart(offset: number, end: number): number {
    if (offset <= this.headInFile) return this.headInFile;
    for (const { at, block } of readBlocks(this.file, offset - 1, end)) {
      const found = block.indexOf(newline);
      if (found >= 0) return at + found + 1;
    }
    return end;
  }
}
