import { writeFileSync } from "node:fs";
import { InvalidInputError } from "../core/errors";

/** @throws InvalidInputError if the file cannot be written */
export function writeFileOf(option: string, file: string, content: string): void {
  try {
    writeFileSync(file, content);
  } catch (cause) {
    throw unwritable(option, file, cause);
  }
}

/** Returns the error for a given file that cannot be written, which the person can correct. */
export function unwritable(option: string, file: string, cause: unknown): InvalidInputError {
  const rule = `must be a writable file (${(cause as NodeJS.ErrnoException).code ?? (cause as Error).message})`;
  return new InvalidInputError("nothing was written", [{ path: option, value: file, rule }], cause);
}

/**
 * Writes a report to the file that an option names.
 *
 * @throws InvalidInputError if the file cannot be written
 */
export function writeReport(option: string, file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (cause) {
    throw new InvalidInputError(
      "the report cannot be written",
      [{ path: option, value: file, rule: "must be a file that can be written" }],
      cause,
    );
  }
}
