import fs from "node:fs";
import type { Line } from "./log-record";

export const blockBytes = 64 * 1024;
export const newline = 10;

/** Yields the complete lines between two offsets. A line must begin at the first offset. */
export function* readLines(file: string, from: number, to: number): Generator<Line, undefined> {
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
export function* readBlocks(
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
export function endOfLastLine(file: string, size: number): number {
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
