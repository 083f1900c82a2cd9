import { crc32 } from "node:zlib";

/**
 * Returns a line with its checksum. The checksum covers the owner, e.g. the name of the file, so that a line of another
 * owner is refused.
 */
export function sealLine(owner: string, text: string): string {
  return `${checksum(owner, text)} ${text}\n`;
}

/** Returns the text of a line without its line feed, or undefined if the checksum is wrong or missing. */
export function openLine(owner: string, line: string): string | undefined {
  const [, expected, text] = /^([0-9a-f]{8}) (.*)$/s.exec(line) ?? [];
  return text !== undefined && checksum(owner, text) === expected ? text : undefined;
}

function checksum(owner: string, text: string): string {
  return crc32(text, crc32(owner)).toString(16).padStart(8, "0");
}
