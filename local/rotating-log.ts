import { closeSync, fstatSync, openSync, renameSync, rmSync, writeSync } from "node:fs";

export interface RotationLimits {
  /** The size at which a file is closed and the next one begins. */
  readonly maxBytes: number;
  readonly keep: number;
}

const defaultLimits: RotationLimits = { maxBytes: 10 * 1024 * 1024, keep: 4 };

/**
 * A log file of bounded size that only its owner can read. `write` returns after the line is written, so a kill loses
 * none. Rotation renames files and copies nothing.
 */
export class RotatingLog {
  private readonly file: string;
  private readonly limits: RotationLimits;
  private descriptor: number;
  private size: number;

  constructor(file: string, limits: RotationLimits = defaultLimits) {
    this.file = file;
    this.limits = limits;
    this.descriptor = openSync(file, "a", 0o600);
    this.size = fstatSync(this.descriptor).size;
  }

  /** Writes text. Never throws, because a full disk must not end the stack. */
  write(text: string | Uint8Array): void {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    try {
      if (this.size > 0 && this.size + bytes.length > this.limits.maxBytes) this.rotate();
      for (let at = 0; at < bytes.length; ) at += writeSync(this.descriptor, bytes, at);
      this.size += bytes.length;
    } catch {
      // Lines that do not fit on the disk are lost, as with any log.
    }
  }

  private rotate(): void {
    const { keep } = this.limits;
    rmSync(`${this.file}.${keep}`, { force: true });
    for (let number = keep - 1; number >= 0; number -= 1) {
      const from = number === 0 ? this.file : `${this.file}.${number}`;
      try {
        renameSync(from, `${this.file}.${number + 1}`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
    const next = openSync(this.file, "a", 0o600);
    closeSync(this.descriptor);
    this.descriptor = next;
    this.size = fstatSync(next).size;
  }
}

/**
 * Redirects the output of this process to a rotating file. Output that bypasses Node's streams, such as a V8 crash
 * report, is not redirected.
 */
export function printTo(log: RotatingLog): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = ((text: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
      log.write(text);
      const done = rest.find((each) => typeof each === "function") as (() => void) | undefined;
      if (done) process.nextTick(done);
      return true;
    }) as typeof stream.write;
  }
}
