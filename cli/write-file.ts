import { writeFileSync } from "node:fs";
import { InvalidInputError } from "../core/errors";

/** @throws InvalidInputError where it cannot be written */
export function writeFileOf(option: string, file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (cause) {
    throw unwritable(option, file, cause);
  }
}

/** A file that a person named and that cannot be written: his to mend. */
export function unwritable(option: string, file: string, cause: unknown): InvalidInputError {
  const rule = `must be a writable file (${(cause as NodeJS.ErrnoException).code ?? (cause as Error).message})`;
  return new InvalidInputError("nothing was written", [{ path: option, value: file, rule }], cause);
}
