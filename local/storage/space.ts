import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Returns whether an error, or a cause of it, says that a disk is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const text = `${(error as NodeJS.ErrnoException).code ?? ""} ${error.message}`;
  return /\b(?:ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded/.test(text) || isDiskFull(error.cause);
}

/** The space that opening needs in addition to the logs: a manifest, and the file names. */
const spareBytes = 128 * 1024;

/**
 * Writes and removes a file as large as what opening a database again, and then a write, add to its directory. Opening
 * rewrites the logs as tables.
 *
 * @throws the error of the disk, if it has less space
 */
export function requireSpace(directory: string, writeBytes: number): void {
  const logs = readdirSync(directory).filter((name) => name.endsWith(".log"));
  const size = logs.reduce((sum, name) => sum + statSync(join(directory, name)).size, spareBytes + writeBytes);
  const probe = join(directory, "space.tmp");
  try {
    writeFileSync(probe, Buffer.alloc(size, 1), { flush: true });
  } finally {
    rmSync(probe, { force: true });
  }
}
