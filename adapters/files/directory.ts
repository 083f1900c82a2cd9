import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Creates a directory, with those above it, such that it survives a power loss. Idempotent. */
export function makeDirectory(directory: string, mode?: number): void {
  const absolute = resolve(directory);
  const first = mkdirSync(absolute, { recursive: true, ...(mode === undefined ? {} : { mode }) }) ?? absolute;
  // Also where it is there already: the process that made it may have died before it synced the entry.
  for (let made = absolute; made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}

/** Makes the directory's entries durable: created, renamed and removed files. Blocks the event loop. */
export function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
