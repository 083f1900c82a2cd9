import { crc32 } from "node:zlib";

/** Returns a line with its checksum. It covers the owner, such as the file's name: a line of another owner does not open. */
export function sealLine(owner: string, text: string): string {
  return `${checksum(owner, text)} ${text}\n`;
}

/** Returns the text of a line without its line feed, or undefined where the checksum is wrong or missing. */
export function openLine(owner: string, line: string): string | undefined {
  const [, expected, text] = /^([0-9a-f]{8}) (.*)$/s.exec(line) ?? [];
  return text !== undefined && checksum(owner, text) === expected ? text : undefined;
}

function checksum(owner: string, text: string): string {
  return crc32(text, crc32(owner)).toString(16).padStart(8, "0");
}
