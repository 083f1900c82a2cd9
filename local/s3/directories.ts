import fs from "node:fs";
import path from "node:path";
import { BoundedMap } from "../bounded-map";
import { parseEntry } from "./keys";

const maxKnown = 10_000;

/**
 * Changes directories durably. An entry of a directory survives a power loss only after an fsync of that directory. An
 * object is therefore durable once its own directory is synced, and each directory above it is synced after the last
 * creation or removal of a subdirectory there. Another request or a killed process may have made that change.
 */
export class Directories {
  /**
   * The sync state by directory: true if no subdirectory was created or removed since the last sync, else the current
   * sync.
   */
  private readonly known = new BoundedMap<string, true | symbol>(maxKnown);

  rename(from: string, to: string): void {
    try {
      fs.renameSync(from, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      const directory = path.dirname(to);
      const first = fs.mkdirSync(directory, { recursive: true });
      if (first !== undefined) for (const one of between(directory, first)) this.known.delete(path.dirname(one));
      fs.renameSync(from, to);
    }
  }

  removeEmpty(directory: string, top: string): string {
    let current = directory;
    while (current !== top) {
      try {
        fs.rmdirSync(current);
      } catch {
        return current; // The directory is not empty.
      }
      this.known.delete(current);
      current = path.dirname(current);
      this.known.delete(current);
    }
    return top;
  }

  /**
   * Makes the changes in a directory below `top` durable. Call it in the synchronous section that made the change: it
   * opens the directories at once, before a later request can remove them.
   */
  async flush(directory: string, top: string): Promise<void> {
    const above = between(directory, top).slice(1);
    const changed = [directory, ...above.filter((one) => this.known.get(one) !== true)];
    await Promise.all(changed.map((one) => this.sync(one)));
  }

  private async sync(directory: string): Promise<void> {
    const sync = Symbol();
    if (this.known.get(directory) !== true) this.known.set(directory, sync);
    await flushDirectory(directory);
    if (this.known.get(directory) === sync) this.known.set(directory, true);
  }
}

/** Returns a directory and its parents up to `top`. */
function between(directory: string, top: string): readonly string[] {
  return directory === top ? [directory] : [directory, ...between(path.dirname(directory), top)];
}

export async function flushDirectory(directory: string): Promise<void> {
  const descriptor = fs.openSync(directory, "r");
  try {
    await new Promise<void>((resolve, reject) => fs.fsync(descriptor, (error) => (error ? reject(error) : resolve())));
  } finally {
    fs.closeSync(descriptor);
  }
}

/**
 * Returns whether a directory contains an object at any depth. Empty directories, which a crash may leave, do not
 * count.
 */
export function holdsObject(directory: string): boolean {
  const folder = fs.opendirSync(directory);
  const deeper: string[] = [];
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
      const kind = parseEntry(entry.name)?.kind;
      if (kind === "object") return true;
      if (kind) deeper.push(path.join(directory, entry.name));
    }
  } finally {
    folder.closeSync();
  }
  return deeper.some(holdsObject);
}
