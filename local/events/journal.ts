import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * Events that the bus has taken and not yet routed. An append is synchronous, so that who emits an event knows it on disk when the
 * call returns. When all that was appended is routed, the file is emptied.
 */
export class Journal<T> {
  private readonly fd: number;
  private outstanding = 0;

  constructor(path: string) {
    this.fd = openSync(path, "a+");
  }

  /** What a former process left unrouted, or routed just before it died: to be routed again. */
  recover(): readonly T[] {
    const lines = readFileSync(this.fd, "utf8").split("\n");
    const left = lines.flatMap((line): T[] => {
      try {
        return [JSON.parse(line) as T];
      } catch {
        // The empty rest of the file, or a line that a kill has cut: nobody was told that it was taken.
        return [];
      }
    });
    this.outstanding += left.length;
    // What follows a cut line must begin on its own.
    if (lines.at(-1) !== "") writeSync(this.fd, "\n");
    return left;
  }

  append(items: readonly T[]): void {
    const text = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    // One write: either all of a request's events are there, or (cut short) it was never acknowledged.
    for (let written = 0; written < text.length; ) written += writeSync(this.fd, text, written);
    this.outstanding += items.length;
  }

  routed(count: number): void {
    this.outstanding -= count;
    if (this.outstanding === 0) ftruncateSync(this.fd, 0);
  }

  close(): void {
    fsyncSync(this.fd);
    closeSync(this.fd);
  }
}
