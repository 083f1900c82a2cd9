import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Folders that may hold very many files. Nobody else reaches them while the data directory has mode 0700. */
const contentFolders = ["s3/buckets", "cache"];

/**
 * Takes all rights of other users off the files of a data directory. New files have none (umask); earlier releases, copies and restored backups may have them.
 * The content folders are included where the data directory itself was open. It is closed last, so that a kill before the end repeats the walk.
 */
export function closeToOthers(data: string): void {
  const wasOpen = isOpen(data);
  const skipped = new Set(wasOpen ? [] : contentFolders.map((folder) => join(data, folder)));
  closeBelow(data, skipped);
  if (wasOpen) chmodSync(data, 0o700);
}

function closeBelow(directory: string, skipped: ReadonlySet<string>): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    // A link's target is not the stack's to change.
    if (entry.isSymbolicLink() || skipped.has(path)) continue;
    if (entry.isDirectory()) closeBelow(path, skipped);
    if (isOpen(path)) chmodSync(path, lstatSync(path).mode & 0o700);
  }
}

function isOpen(path: string): boolean {
  return (lstatSync(path).mode & 0o077) !== 0;
}
