import { documentLimits } from "../../../core/json-text";

const quote = 0x22;
const backslash = 0x5c;
const newline = 0x0a;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/**
 * Finds the first row of a JSON file with more levels than the limit. DuckDB's reader is recursive, and a value of
 * 100,000 levels ends the process. Malformed JSON is counted as it is written.
 */
export class JsonDepth {
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
