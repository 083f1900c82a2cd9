import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The folders that may hold very many files. Other users cannot reach them while the data directory has mode 0700. */
const contentFolders = ["s3/buckets", "cache"];

/**
 * Removes all rights of other users from the files of a data directory. New files have none (umask), but earlier
 * releases, copies and restored backups may have them. The content folders are included if the data directory itself
 * was open. The data directory is closed last, so that the next start repeats an interrupted walk.
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
    // The stack must not change the target of a link.
    if (entry.isSymbolicLink() || skipped.has(path)) continue;
    if (entry.isDirectory()) closeBelow(path, skipped);
    if (isOpen(path)) chmodSync(path, lstatSync(path).mode & 0o700);
  }
}

function isOpen(path: string): boolean {
  return (lstatSync(path).mode & 0o077) !== 0;
}
