import { InvalidManifestError } from "./errors";
import type { DatasetDraft, DatasetManifest } from "./shapes";

/**
 * Checks that an appended draft has its parent's columns, split rule and shards, followed by others.
 *
 * @throws InvalidManifestError
 */
export function assertFollows(parent: DatasetManifest, draft: DatasetDraft): void {
  const name = `${parent.name}@${parent.version}`;
  const reasons: string[] = [];
  if (draft.parent?.digest !== parent.digest) reasons.push(`it names ${name} as its parent with another digest`);
  if (draft.schemaHash !== parent.schemaHash) reasons.push(`its columns are not those of its parent ${name}`);
  if (parent.shards.some(({ sha256 }, index) => draft.shards[index]?.sha256 !== sha256)) {
    reasons.push(`it does not begin with the shards of its parent ${name}`);
  }
  if (draft.shards.length <= parent.shards.length) reasons.push(`it adds no shard to its parent ${name}`);
  if (reasons.length > 0) throw new InvalidManifestError(draft.name, reasons);
}

/**
 * Tests whether a version was made by appending these shards to its parent. A repeated append then finds the version
 * instead of adding its rows twice.
 */
export function wasAppended(
  { parent, shards, rowCount }: DatasetManifest,
  added: readonly { readonly sha256: string; readonly rows: number }[],
): boolean {
  if (parent === undefined) return false;
  const last = shards.slice(-added.length);
  const before = rowCount - added.reduce((sum, { rows }) => sum + rows, 0);
  return parent.rows === before && last.every(({ sha256 }, index) => sha256 === added[index]!.sha256);
}
