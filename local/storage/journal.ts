import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { crc32 } from "node:zlib";
import { DamagedRecordError } from "./damage";
import { syncDirectory } from "./directory";

/**
 * A journal of entries that were accepted and are not routed yet. An append is one line with a checksum, written and
 * synced synchronously, so the entries are on disk when the call returns. The file is emptied once all entries are
 * routed.
 */
export class Journal<T> {
  private readonly fd: number;
  private readonly left: readonly T[];
  private outstanding: number;
  private size: number;

  /**
   * Opens a journal.
   * @throws DamagedRecordError
   */
  constructor(path: string) {
    const { lines, end } = readJournal<T>(path);
    const damaged = lines.indexOf(undefined);
    if (damaged >= 0) throw new DamagedRecordError(basename(path), dirname(path), `line ${damaged + 1}`);
    this.left = lines.flatMap((items = []) => items);
    this.outstanding = this.left.length;
    this.size = end;
    this.fd = openSync(path, "a+", 0o600);
    syncDirectory(dirname(path));
    // The next line must not continue an incomplete one.
    ftruncateSync(this.fd, end);
  }

  /**
   * Returns the entries that an earlier process did not route. It may include entries that were routed just before the
   * process died.
   */
  recover(): readonly T[] {
    return this.left;
  }

  append(items: readonly T[]): void {
    if (items.length === 0) return;
    const bytes = Buffer.from(lineOf(items));
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(this.fd, bytes, written);
      fdatasyncSync(this.fd);
    } catch (error) {
      ftruncateSync(this.fd, this.size);
      throw error;
    }
    this.size += bytes.length;
    this.outstanding += items.length;
  }

  routed(count: number): void {
    this.outstanding -= count;
    if (this.outstanding > 0 || this.size === 0) return;
    ftruncateSync(this.fd, 0);
    this.size = 0;
  }

  close(): void {
    closeSync(this.fd);
  }
}

/**
 * Reads the entries of each line of a journal, undefined for a damaged line. Damaged lines at the end are not included:
 * a power loss may leave them of an append that was not acknowledged.
 */
export function readJournal<T>(path: string): {
  readonly lines: readonly (readonly T[] | undefined)[];
  /** The end of the last intact line, in bytes. */
  readonly end: number;
} {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const lines: (readonly T[] | undefined)[] = [];
  let [intact, end] = [0, 0];
  for (let at = 0, next = bytes.indexOf(10) + 1; next > 0; at = next, next = bytes.indexOf(10, at) + 1) {
    const items = parseLine<T>(bytes.toString("utf8", at, next - 1));
    lines.push(items);
    if (items) [intact, end] = [lines.length, next];
  }
  return { lines: lines.slice(0, intact), end };
}

/** Replaces a line, counted from 0, by one without entries. */
export function deleteLine(path: string, line: number): void {
  const lines = readFileSync(path, "utf8").split("\n");
  lines[line] = lineOf([]).trimEnd();
  writeFileSync(`${path}.tmp`, lines.join("\n"), { flush: true, mode: 0o600 });
  renameSync(`${path}.tmp`, path);
  syncDirectory(dirname(path));
}

function lineOf(items: readonly unknown[]): string {
  const json = JSON.stringify(items);
  return `${checksum(json)} ${json}\n`;
}

function parseLine<T>(line: string): readonly T[] | undefined {
  const [, expected, json] = /^([0-9a-f]{8}) (.*)$/.exec(line) ?? [];
  return json !== undefined && checksum(json) === expected ? (JSON.parse(json) as T[]) : undefined;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
