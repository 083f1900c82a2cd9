import { realpathSync, writeFileSync } from "node:fs";
import { InvalidInputError } from "../core/errors";

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
 * Checks that a command does not overwrite what it reads, by any spelling of the path or a link. @throws
 * InvalidInputError
 */
export function assertKeepsInputs(
  option: string,
  output: string | undefined,
  inputs: Readonly<Record<string, string | undefined>>,
): void {
  const written = output === undefined ? undefined : realPath(output);
  if (written === undefined) return;
  for (const [name, input] of Object.entries(inputs)) {
    if (input === undefined || realPath(input) !== written) continue;
    const rule = `must be another file: this one is read as ${name} and would be overwritten`;
    throw new InvalidInputError("nothing was written", [{ path: option, value: output, rule }]);
  }
}

/** Returns `undefined` for a file that does not exist: it cannot be overwritten, and a later read reports it. */
function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

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
