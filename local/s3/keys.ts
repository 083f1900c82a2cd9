import path from "node:path";
import { S3Error } from "./errors";

/**
 * How an object's key becomes a path, such that nothing escapes the bucket's directory, no two keys share a file (not
 * even where the file system ignores case or normalises Unicode), and walking directories in sorted order walks
 * keys in S3's order (by UTF-8 bytes), so that a narrow prefix costs a narrow walk.
 *
 * A key is cut at "/" into segments. Each but the last is a directory, named by the encoded segment and "+"; the last is a
 * file, named by the encoded segment and "=". So `a`, `a/` and `a/b` may all exist: `a=`, `a+/=`, `a+/b=`. Encoding keeps
 * lowercase letters, digits, "-", "_" and "."; any other byte becomes %xx. A segment of 64 bytes or more spills: its
 * first 64 bytes name a directory with "%" after it, and the rest (possibly empty) goes on inside. Spilling at exactly 64 keeps
 * siblings comparable: no other entry of a directory begins with the 64 bytes of a spilled one.
 *
 * Inside this service a key is a "binary string", one character a byte, because JavaScript compares those in byte order.
 */
export type BinaryKey = string & { readonly binaryKey: unique symbol };

const spillBytes = 64;
const longestKey = 1024;

export type EntryKind = "object" | "folder" | "spill";
const suffixes: Readonly<Record<EntryKind, string>> = { object: "=", folder: "+", spill: "%" };

const kindOfSuffix: ReadonlyMap<string, EntryKind> = new Map(
  (Object.entries(suffixes) as [EntryKind, string][]).map(([kind, suffix]) => [suffix, kind]),
);

export function toBinary(key: string): BinaryKey {
  return Buffer.from(key, "utf8").toString("latin1") as BinaryKey;
}

export function fromBinary(key: string): string {
  return Buffer.from(key, "latin1").toString("utf8");
}

/** Refuses what S3 refuses; the empty key never comes here, it addresses the bucket. */
export function requireKey(key: string): BinaryKey {
  const binary = toBinary(key);
  if (binary.length > longestKey) {
    throw new S3Error(400, "KeyTooLongError", "Your key is too long", {
      extra: { Size: String(binary.length), MaxSizeAllowed: String(longestKey) },
    });
  }
  return binary;
}

/** The object's file, relative to the bucket's object directory. */
export function relativePath(key: BinaryKey): string {
  const segments = key.split("/");
  const names: string[] = [];
  segments.forEach((segment, index) => {
    let rest = segment;
    while (rest.length >= spillBytes) {
      names.push(encode(rest.slice(0, spillBytes)) + suffixes.spill);
      rest = rest.slice(spillBytes);
    }
    names.push(encode(rest) + (index === segments.length - 1 ? suffixes.object : suffixes.folder));
  });
  return names.join(path.sep);
}

/** The directory in which the walk for a prefix may begin, and the part of the prefix that leads there. */
export function startOfPrefix(prefix: string): { readonly directory: string; readonly base: string } {
  const names: string[] = [];
  let base = "";
  let rest = prefix;
  for (;;) {
    const slash = rest.indexOf("/");
    const segmentLength = slash < 0 ? rest.length : slash;
    if (segmentLength >= spillBytes) {
      names.push(encode(rest.slice(0, spillBytes)) + suffixes.spill);
      base += rest.slice(0, spillBytes);
      rest = rest.slice(spillBytes);
    } else if (slash >= 0) {
      names.push(encode(rest.slice(0, slash)) + suffixes.folder);
      base += rest.slice(0, slash + 1);
      rest = rest.slice(slash + 1);
    } else return { directory: names.join(path.sep), base };
  }
}

export interface Entry {
  readonly kind: EntryKind;
  /** What the entry adds to the key: the segment's bytes, with "/" after them where it is a folder. */
  readonly text: string;
  readonly fileName: string;
}

/** What a name in a bucket's directory stands for; undefined for files beside objects (their tags). */
export function parseEntry(fileName: string): Entry | undefined {
  const kind = kindOfSuffix.get(fileName.slice(-1));
  if (!kind) return undefined;
  const segment = fileName
    .slice(0, -1)
    .replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return { kind, text: kind === "folder" ? `${segment}/` : segment, fileName };
}

function encode(segment: string): string {
  return segment.replace(/[^a-z0-9\-_.]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
