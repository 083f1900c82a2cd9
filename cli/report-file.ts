import { writeFileSync } from "node:fs";
import { InvalidInputError } from "../core/errors";

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
