import * as fs from "node:fs";
import { createGunzip } from "node:zlib";
import { formatBytes } from "../../core/quantities";

/** The maximum length of a line that DuckDB reads, in bytes. */
const maxLineBytes = 2_097_152;
const newline = 10;

/**
 * Returns what is wrong with the end of a text file; `undefined` if nothing is. DuckDB refuses a long line, but leaves out
 * the last one without an error if it is longer than a buffer. Of a gzip file that is cut at the end of a line, it reads
 * the rows before the cut.
 */
export async function problemOfEnd(file: string): Promise<string | undefined> {
  const length = file.endsWith(".gz") ? await lastLineOfGzip(file) : lastLineOf(file);
  if (typeof length === "string") return `must be a complete gzip file: ${length}`;
  if (length <= maxLineBytes) return undefined;
  return `must have lines of at most ${formatBytes(maxLineBytes)}, and its last line is longer`;
}

/** Returns the length of the last line in bytes, or a greater number than the maximum. */
function lastLineOf(file: string): number {
  const descriptor = fs.openSync(file, "r");
  try {
    const { size } = fs.fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, maxLineBytes + 2));
    fs.readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    const text = bytes.at(-1) === newline ? bytes.subarray(0, -1) : bytes;
    return text.length - text.lastIndexOf(newline) - 1;
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Returns the length of the last line in bytes, or why the file cannot be decompressed. */
async function lastLineOfGzip(file: string): Promise<number | string> {
  let [last, current] = [0, 0];
  const source = fs.createReadStream(file);
  const lines = createGunzip();
  source.on("error", (error) => lines.destroy(error)).pipe(lines);
  try {
    for await (const chunk of lines as AsyncIterable<Buffer>) {
      const end = chunk.lastIndexOf(newline);
      if (end >= 0) {
        const before = chunk.lastIndexOf(newline, end - 1);
        last = end === 0 || before < 0 ? current + end : end - before - 1;
        current = 0;
      }
      current += chunk.length - end - 1;
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return current > 0 ? current : last;
}
