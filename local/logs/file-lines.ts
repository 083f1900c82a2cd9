import fs from "node:fs";
import type { Line } from "./log-record";

export const blockBytes = 64 * 1024;
export const newline = 10;

/** Whole lines between two offsets, of which the first is where a line begins. */
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

/** The file is opened for each block: many streams may be read side by side, and none is left open by a reader that stops. */
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

/** Returns where the last line feed ends before an offset; 0 where there is none. */
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
