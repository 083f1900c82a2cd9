import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Creates a directory and its parents durably. Idempotent. */
export function makeDirectory(directory: string, mode?: number): void {
  const absolute = resolve(directory);
  const first = mkdirSync(absolute, { recursive: true, ...(mode === undefined ? {} : { mode }) }) ?? absolute;
  // Also syncs an existing directory, because the process that created it may have died before the sync.
  for (let folder = absolute; folder.length >= first.length; folder = dirname(folder)) syncDirectory(dirname(folder));
}

/** Syncs the directory, which makes created, renamed and removed entries durable. Blocks the event loop. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
