import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncDirectory } from "../../adapters/files/directory";
import { type Damage, DamagedStoreError } from "./damage";
import { openLine, sealLine } from "./sealed-line";
import { SlotFile } from "./slot-file";

/**
 * The state of a journal. Entries are numbered from 1. Entries up to `routed` may be deleted. Entries up to `appended`
 * were acknowledged.
 */
interface Mark {
  /** The name of the journal's file. The mark of another file is damage. */
  readonly journal?: string;
  readonly appended: number;
  readonly routed: number;
}

export interface JournalLocation {
  readonly path: string;
  /** The directory of the mark. The default is the journal's directory. */
  readonly seals?: string | undefined;
}

interface Line<T> {
  readonly number: number;
  readonly item: T;
}

interface Content<T> {
  readonly lines: readonly Line<T>[];
  /** The end of the last intact line, in bytes. */
  readonly end: number;
}

const maxJournalBytes = 1024 * 1024;

/**
 * A journal of entries that were accepted and are not routed yet, one line each with its checksum and number. An append
 * is synchronous and synced, so the entry is on disk when the call returns. Once all entries are routed they are marked
 * as such, and a long file is emptied.
 */
export class Journal<T> {
  private readonly fd: number;
  private readonly name: string;
  private readonly mark: SlotFile<Mark>;
  private readonly left: readonly T[];
  private outstanding: number;
  private appended: number;
  private routedTo: number;
  private size: number;

  /**
   * Opens a journal.
   * @throws DamagedStoreError if an entry that was appended and not routed is damaged or missing
   */
  constructor(location: JournalLocation) {
    const path = markPath(location);
    this.name = basename(location.path);
    const examined = examineJournal<T>(location);
    const [first, ...more] = examined.damages;
    if (first) throw new DamagedStoreError([first, ...more]);
    this.mark = (SlotFile.open<Mark>(path) as SlotFile<Mark> | undefined) ?? SlotFile.create(path, none);
    if (examined.legacy) rewrite(location.path, examined.lines);
    this.fd = openSync(location.path, "a+", 0o600);
    syncDirectory(dirname(location.path));
    // The next line must not continue an incomplete one.
    if (!examined.legacy) ftruncateSync(this.fd, examined.end);
    this.size = fstatSync(this.fd).size;
    this.left = examined.lines.map(({ item }) => item);
    this.outstanding = this.left.length;
    this.appended = Math.max(this.mark.content.appended, examined.lines.at(-1)?.number ?? 0);
    this.routedTo = this.mark.content.routed;
    this.note();
  }

  /**
   * Returns the entries that an earlier process did not route. It may include an entry that was routed just before the
   * process died.
   */
  recover(): readonly T[] {
    return this.left;
  }

  append(items: readonly T[]): void {
    if (items.length === 0) return;
    const bytes = Buffer.from(items.map((item, i) => lineOf(this.name, this.appended + 1 + i, item)).join(""));
    try {
      for (let written = 0; written < bytes.length; ) written += writeSync(this.fd, bytes, written);
      fdatasyncSync(this.fd);
      this.note(this.appended + items.length);
    } catch (error) {
      ftruncateSync(this.fd, this.size);
      throw error;
    }
    this.size += bytes.length;
    this.outstanding += items.length;
  }

  routed(count: number): void {
    this.outstanding -= count;
    if (this.outstanding > 0) return;
    this.note(this.appended, this.appended);
    if (this.size < maxJournalBytes) return;
    // The file is emptied only after the mark is on disk. Otherwise a power loss in between would look like lost
    // entries.
    this.mark.flush();
    ftruncateSync(this.fd, 0);
    this.size = 0;
  }

  close(): void {
    this.mark.close();
    closeSync(this.fd);
  }

  private note(appended = this.appended, routed = this.routedTo): void {
    this.mark.write({ journal: this.name, appended, routed });
    this.appended = appended;
    this.routedTo = routed;
  }
}

const none: Mark = { appended: 0, routed: 0 };

/**
 * Reads a journal and compares it with its mark. No process may have it open. `lines` are the entries that are not
 * routed.
 */
export function examineJournal<T>(
  location: JournalLocation,
): Content<T> & { readonly damages: readonly Damage[]; readonly legacy: boolean } {
  const { path } = location;
  const damages: Damage[] = [];
  const damage = (file: string, reason: string): void => {
    damages.push({ store: basename(path), file, reason });
  };
  const read = SlotFile.read<Mark>(markPath(location));
  if (read === "damaged") damage(markPath(location), "it fails its checksum");
  const { journal = basename(path), appended, routed } = read === undefined || read === "damaged" ? none : read;
  if (journal !== basename(path)) damage(markPath(location), `it belongs to the journal ${journal}`);
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const legacy = appended === 0 && bytes[0] === "{".charCodeAt(0);
  const { lines, end } = legacy ? readLegacy<T>(bytes) : readLines<T>(basename(path), bytes);
  if (read === undefined && !legacy && lines.length > 0) damage(markPath(location), "it is missing");
  const left = lines.filter(({ number }) => number > routed);
  const numbers = new Set(left.map(({ number }) => number));
  for (let number = routed + 1; number <= appended; number++) {
    if (!numbers.has(number)) damage(path, `entry ${number} of ${appended} is damaged or missing`);
  }
  return { lines: left, end, damages, legacy };
}

function markPath({ path, seals = dirname(path) }: JournalLocation): string {
  return join(seals, `${basename(path)}.seal`);
}

function lineOf(journal: string, number: number, item: unknown): string {
  return sealLine(journal, `${number} ${JSON.stringify(item)}`);
}

function readLines<T>(journal: string, bytes: Buffer): Content<T> {
  const lines: Line<T>[] = [];
  let end = 0;
  for (let at = 0; ; ) {
    const next = bytes.indexOf(10, at) + 1;
    if (next === 0) return { lines, end };
    const text = openLine(journal, bytes.toString("utf8", at, next - 1));
    const [, number, json] = /^(\d+) (.*)$/.exec(text ?? "") ?? [];
    if (number !== undefined) {
      lines.push({ number: Number(number), item: JSON.parse(json!) as T });
      end = next;
    }
    at = next;
  }
}

/** Reads a journal without checksums. A line that a kill has cut off was never acknowledged. */
function readLegacy<T>(bytes: Buffer): Content<T> {
  const lines = bytes
    .toString("utf8")
    .split("\n")
    .flatMap((line): T[] => {
      try {
        return [JSON.parse(line) as T];
      } catch {
        return [];
      }
    });
  return { lines: lines.map((item, i) => ({ number: i + 1, item })), end: bytes.length };
}

/** Replaces a journal atomically. */
function rewrite<T>(path: string, lines: readonly Line<T>[]): void {
  const unfinished = `${path}.tmp`;
  writeFileSync(unfinished, lines.map(({ number, item }) => lineOf(basename(path), number, item)).join(""), {
    flush: true,
    mode: 0o600,
  });
  renameSync(unfinished, path);
}
