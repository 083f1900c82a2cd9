import fs from "node:fs";
import path from "node:path";
import { integerBelow, oneOf, type Random } from "../elastic/random";

export const damageKinds = [
  "bit flip",
  "changed bytes",
  "truncation",
  "zeroed range",
  "swap",
  "stale copy",
  "missing",
] as const;
export type DamageKind = (typeof damageKinds)[number];

const largestChange = 64;
const largestZero = 4096;

/** A copy of a template whose files are damaged. Files are relative paths. */
export interface Victims {
  readonly directory: string;
  /** An earlier state of the same data. */
  readonly earlier: string;
  readonly files: readonly string[];
}

/** Damages one file (a swap: two) of a copy. @returns the damaged files; none if this damage changes nothing there */
export function damageFile(
  kind: DamageKind,
  { directory, earlier, files }: Victims,
  random: Random,
): readonly string[] {
  const name = oneOf(random, files);
  const file = path.join(directory, name);
  const content = fs.readFileSync(file);
  const changed = (next: Buffer): readonly string[] => {
    if (next.equals(content)) return [];
    fs.writeFileSync(file, next);
    return [name];
  };
  if (kind === "missing") {
    fs.rmSync(file);
    return [name];
  }
  if (kind === "swap") {
    const other = oneOf(random, files);
    const there = fs.readFileSync(path.join(directory, other));
    if (there.equals(content)) return [];
    fs.writeFileSync(path.join(directory, other), content);
    return [...changed(there), other];
  }
  if (kind === "stale copy") {
    const before = path.join(earlier, name);
    return fs.existsSync(before) ? changed(fs.readFileSync(before)) : [];
  }
  if (content.length === 0) return [];
  const at = integerBelow(random, content.length);
  if (kind === "truncation") return changed(content.subarray(0, at));
  const next = Buffer.from(content);
  if (kind === "bit flip") next[at] = next.readUInt8(at) ^ (1 << integerBelow(random, 8));
  else if (kind === "zeroed range") next.fill(0, at, Math.min(next.length, at + 1 + integerBelow(random, largestZero)));
  else {
    const end = Math.min(next.length, at + 2 + integerBelow(random, largestChange));
    for (let i = at; i < end; i += 1) next[i] = integerBelow(random, 256);
  }
  return changed(next);
}

/** Lists files below a directory, relative and sorted. */
export function filesBelow(directory: string): readonly string[] {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort();
}
