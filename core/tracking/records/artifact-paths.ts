import { InvalidInputError } from "../../errors";
import type { RunIdentity } from "../run-record";

/** Maximum length of a path. It is part of a row's key, and DynamoDB accepts 1,024 bytes. */
const maxBytes = 1_000;

/** Returns the rule that an artifact's path breaks; `undefined` if it is valid. */
export function artifactPathRule(path: string): string | undefined {
  if (path === "") return "must not be empty";
  if (Buffer.byteLength(path) > maxBytes) return `must be at most ${maxBytes} bytes as UTF-8`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return "must have no control characters and no backslash";
  if (Buffer.from(path).toString() !== path) return "must be well-formed Unicode";
  if (path.split("/").some((part) => part === "" || part === "." || part === ".."))
    return "must be relative and normalized: no leading or trailing slash, no empty part, no `.` and no `..`";
  return undefined;
}

/**
 * Returns a file's path. A path is never corrected, so that no two texts name the same file.
 *
 * @throws InvalidInputError if it is not in normal form
 */
export function artifactPath(path: string): string {
  const rule = artifactPathRule(path);
  if (rule !== undefined) throw new InvalidInputError("the artifact's path", [{ path: "path", value: path, rule }]);
  return path;
}

/**
 * Returns a directory's path, or `""` for the top.
 *
 * @throws InvalidInputError
 */
export function directoryPath(path: string): string {
  return path === "" ? "" : artifactPath(path);
}

/** Returns the place of a run's files in the team's tree, unless its experiment has another location. */
export function folderOf({ experimentId, runId }: Pick<RunIdentity, "experimentId" | "runId">): string {
  return `${experimentId}/${runId}/artifacts`;
}

/** Returns the lower bound of paths in a directory, inclusive. */
export function lowestPathIn(directory: string): string {
  return `${directory}/`;
}

/** Returns the upper bound of paths in a directory, exclusive: `0` follows `/` in the order of bytes. */
export function lowestPathPast(directory: string): string {
  return `${directory}0`;
}
