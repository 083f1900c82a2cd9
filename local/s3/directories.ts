import fs from "node:fs";
import path from "node:path";
import { BoundedMap } from "../../core/bounded-map";
import { parseEntry } from "./keys";

const mostKnown = 10_000;

/**
 * Changes directories, and makes the changes survive a power loss. A disk promises an entry of a directory only after an
 * fsync of that directory. So an object is durable when its own directory was synced, and each directory above it since
 * the last time that a subdirectory was made or removed there. Another request, or a process that was killed, may have
 * made that change.
 */
export class Directories {
  /** By directory: true where no subdirectory was made or removed since the last sync, else the sync under way. */
  readonly #known = new BoundedMap<string, true | symbol>(mostKnown);

  /** Renames into place, and makes the directories on the way. */
  rename(from: string, to: string): void {
    try {
      fs.renameSync(from, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      const directory = path.dirname(to);
      const first = fs.mkdirSync(directory, { recursive: true });
      if (first !== undefined) for (const one of between(directory, first)) this.#known.delete(path.dirname(one));
      fs.renameSync(from, to);
    }
  }

  /** Removes a directory below `top` and those above it as long as they are empty. Returns the first one that stays. */
  removeEmpty(directory: string, top: string): string {
    let current = directory;
    while (current !== top) {
      try {
        fs.rmdirSync(current);
      } catch {
        return current; // not empty
      }
      this.#known.delete(current);
      current = path.dirname(current);
      this.#known.delete(current);
    }
    return top;
  }

  /**
   * Makes what has changed in a directory below `top` survive a power loss. To be called in the section that has made the
   * change: it takes hold of the directories at once, and a later request may remove them.
   */
  async flush(directory: string, top: string): Promise<void> {
    const above = between(directory, top).slice(1);
    const changed = [directory, ...above.filter((one) => this.#known.get(one) !== true)];
    await Promise.all(changed.map((one) => this.#sync(one)));
  }

  async #sync(directory: string): Promise<void> {
    const sync = Symbol();
    if (this.#known.get(directory) !== true) this.#known.set(directory, sync);
    await flushDirectory(directory);
    if (this.#known.get(directory) === sync) this.#known.set(directory, true);
  }
}

/** A directory and those above it, up to `top`. */
function between(directory: string, top: string): readonly string[] {
  return directory === top ? [directory] : [directory, ...between(path.dirname(directory), top)];
}

/** Makes the entries of a directory survive a power loss. Opens it before it returns. */
export async function flushDirectory(directory: string): Promise<void> {
  const descriptor = fs.openSync(directory, "r");
  try {
    await new Promise<void>((resolve, reject) => fs.fsync(descriptor, (error) => (error ? reject(error) : resolve())));
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Whether an object lies anywhere below. Stops at the first; a folder that a crash left empty does not count. */
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
