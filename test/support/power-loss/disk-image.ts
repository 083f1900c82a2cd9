import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/*
 * The state of the disk at each point of a trace (`sync-trace.c`): a file's content at its last sync, a directory's entries
 * at its last sync. Of the later changes of a directory, the disk has made a random number of the first ones, independently
 * for each directory. So a rename may have reached one directory and not the other.
 */

interface Entry {
  readonly id: string;
  readonly isDirectory: boolean;
  readonly name: string;
}

interface EntryChange {
  readonly kind: "entry";
  readonly id: string;
  readonly name: string;
  /** Undefined if the entry was removed. */
  readonly entry?: Entry;
}

export type TraceRecord =
  | { readonly kind: "file"; readonly id: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "directory"; readonly id: string; readonly entries: readonly Entry[] }
  | EntryChange
  | { readonly kind: "acknowledged"; readonly line: string };

export interface DiskImage {
  readonly root: string;
  readonly files: Map<string, Buffer>;
  readonly directories: Map<string, readonly Entry[]>;
  /** By directory: changes since its last sync. */
  readonly unsynced: Map<string, readonly EntryChange[]>;
}

export function copyImage(image: DiskImage): DiskImage {
  const { root, files, directories, unsynced } = image;
  return { root, files: new Map(files), directories: new Map(directories), unsynced: new Map(unsynced) };
}

export function readImage(directory: string): DiskImage {
  const image: DiskImage = { root: idOf(directory), files: new Map(), directories: new Map(), unsynced: new Map() };
  const read = (path: string): void => {
    const entries = readdirSync(path).map((name): Entry => {
      const child = join(path, name);
      const isDirectory = lstatSync(child).isDirectory();
      if (isDirectory) read(child);
      else image.files.set(idOf(child), readFileSync(child));
      return { id: idOf(child), isDirectory, name };
    });
    image.directories.set(idOf(path), entries);
  };
  read(directory);
  return image;
}

function idOf(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  return `${ino}.${birthtimeNs / 1_000_000_000n}.${birthtimeNs % 1_000_000_000n}`;
}

export function readTrace(trace: Buffer): readonly TraceRecord[] {
  const records: TraceRecord[] = [];
  for (let at = 0; at < trace.length; ) {
    const end = trace.indexOf(10, at);
    const [kind, id = "", ...numbers] = trace.toString("utf8", at, end).split(" ");
    if (kind === "A") {
      records.push({ kind: "acknowledged", line: trace.toString("utf8", at + 2, end) });
      at = end + 1;
      continue;
    }
    if (kind === "+" || kind === "-") {
      const line = trace.toString("utf8", at + 2 + id.length + 1, end);
      const [entry] = kind === "+" ? readEntry(line) : [];
      records.push({ kind: "entry", id, name: entry?.name ?? line, ...(entry ? { entry } : {}) });
      at = end + 1;
      continue;
    }
    const length = Number(numbers.at(-1));
    const bytes = trace.subarray(end + 1, end + 1 + length);
    if (kind === "F") records.push({ kind: "file", id, offset: Number(numbers[0]), bytes });
    else records.push({ kind: "directory", id, entries: bytes.toString("utf8").split("\n").flatMap(readEntry) });
    at = end + 1 + length + 1;
  }
  return records;
}

function readEntry(line: string): readonly Entry[] {
  const [, id, type, name] = /^(\S+) ([df]) (.*)$/.exec(line) ?? [];
  return id === undefined || name === undefined ? [] : [{ id, isDirectory: type === "d", name }];
}

export function applyRecord(image: DiskImage, record: TraceRecord): void {
  if (record.kind === "directory") {
    image.directories.set(record.id, record.entries);
    image.unsynced.delete(record.id);
  }
  if (record.kind === "entry") {
    image.unsynced.set(record.id, [...(image.unsynced.get(record.id) ?? []), record]);
  }
  if (record.kind !== "file") return;
  const before = image.files.get(record.id) ?? Buffer.alloc(0);
  image.files.set(record.id, Buffer.concat([before.subarray(0, record.offset), record.bytes]));
}

/**
 * Writes an image. `more` returns the content that a file would have got by its next sync: the disk has kept a random part of
 * it.
 */
export function writeImage(
  image: DiskImage,
  directory: string,
  more: ReadonlyMap<string, Buffer>,
  random: () => number,
): void {
  const write = (id: string, path: string): void => {
    mkdirSync(path, { recursive: true });
    for (const entry of someEntries(image, id, random)) {
      const child = join(path, entry.name);
      if (entry.isDirectory) write(entry.id, child);
      else writeFileSync(child, withPart(image.files.get(entry.id) ?? Buffer.alloc(0), more.get(entry.id), random));
    }
  };
  write(image.root, directory);
}

/** Returns a directory's entries at its last sync, after none, some or all of the later changes. */
function someEntries(image: DiskImage, id: string, random: () => number): Iterable<Entry> {
  const entries = new Map((image.directories.get(id) ?? []).map((entry) => [entry.name, entry]));
  const changes = image.unsynced.get(id) ?? [];
  const choice = random();
  const done = choice < 0.3 ? 0 : choice < 0.6 ? changes.length : Math.floor(random() * (changes.length + 1));
  for (const { name, entry } of changes.slice(0, done)) {
    if (entry) entries.set(name, entry);
    else entries.delete(name);
  }
  return entries.values();
}

/** Returns synced content, then nothing, a part of the rest, or a part that ends in zeros: the disk has the length, not the bytes. */
function withPart(synced: Buffer, next: Buffer | undefined, random: () => number): Buffer {
  const choice = random();
  if (!next || next.length <= synced.length || choice < 0.4) return synced;
  const part = next.subarray(synced.length, synced.length + Math.ceil(random() * (next.length - synced.length)));
  if (choice < 0.7) return Buffer.concat([synced, part]);
  const written = part.subarray(0, Math.floor(random() * part.length));
  return Buffer.concat([synced, written, Buffer.alloc(part.length - written.length)]);
}
