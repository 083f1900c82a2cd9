import path from "node:path";
import { S3Error } from "./errors";

/**
 * An object's key as a "binary string", one character per byte, because JavaScript compares those in byte order. This
 * module maps a key to a path with these properties:
 *
 * - No path leaves the bucket's directory.
 * - No two keys share a file, even if the file system ignores case or normalizes Unicode.
 * - A walk of the directories in sorted order visits keys in S3's order (by UTF-8 bytes). A narrow prefix needs a
 *   narrow walk.
 *
 * A key is split at "/" into segments. Each segment but the last is a directory, named by the encoded segment and "+".
 * The last is a file, named by the encoded segment and "=". So `a`, `a/` and `a/b` may all exist: `a=`, `a+/=`,
 * `a+/b=`. Encoding keeps lowercase letters, digits, "-", "_" and "."; any other byte becomes %xx.
 *
 * A segment of 64 bytes or more is split: its first 64 bytes name a directory with "%" after it, which contains the
 * (possibly empty) rest. The length is exactly 64 so that siblings stay comparable: no other entry of a directory
 * begins with the 64 bytes of a split segment.
 */
export type BinaryKey = string & { readonly binaryKey: unique symbol };

const spillBytes = 64;
const maxKeyBytes = 1024;

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

export function requireKey(key: string): BinaryKey {
  const binary = toBinary(key);
  if (binary.length > maxKeyBytes) {
    throw new S3Error(400, "KeyTooLongError", "Your key is too long", {
      extra: { Size: String(binary.length), MaxSizeAllowed: String(maxKeyBytes) },
    });
  }
  return binary;
}

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

/** Returns the directory where the walk for a prefix may begin, and the part of the prefix that leads to it. */
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
  /** The part of the key that the entry adds: the segment's bytes, followed by "/" for a folder. */
  readonly text: string;
  readonly fileName: string;
}

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
