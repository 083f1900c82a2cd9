import { InvalidInputError } from "../../errors";
import type { RunIdentity } from "../run-record";

/** A path is part of a row's key, of which DynamoDB takes 1,024 bytes. */
const mostBytes = 1_000;

/** What is wrong with a path of an artifact; `undefined` where nothing is. */
export function artifactPathRule(path: string): string | undefined {
  if (path === "") return "must not be empty";
  if (Buffer.byteLength(path) > mostBytes) return `must be at most ${mostBytes} bytes as UTF-8`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\u0000-\u001f\u007f\\]/.test(path)) return "must have no control characters and no backslash";
  if (Buffer.from(path).toString() !== path) return "must be well-formed Unicode";
  if (path.split("/").some((part) => part === "" || part === "." || part === ".."))
    return "must be relative and normalized: no leading or trailing slash, no empty part, no `.` and no `..`";
  return undefined;
}

/** A file's path. @throws InvalidInputError where it is not of normal form: a path is never corrected, so that none means two things. */
export function artifactPath(path: string): string {
  const rule = artifactPathRule(path);
  if (rule !== undefined) throw new InvalidInputError("the artifact's path", [{ path: "path", value: path, rule }]);
  return path;
}

/** A directory's, or `""` for the top. @throws InvalidInputError */
export function directoryPath(path: string): string {
  return path === "" ? "" : artifactPath(path);
}

/** Where the team's tree shows a run's files, unless its experiment lies elsewhere. */
export function folderOf({ experimentId, runId }: Pick<RunIdentity, "experimentId" | "runId">): string {
  return `${experimentId}/${runId}/artifacts`;
}

/** Paths in a directory are those from here on … */
export function lowestPathIn(directory: string): string {
  return `${directory}/`;
}

/** … and before this: `0` follows `/` in the order of bytes. */
export function lowestPathPast(directory: string): string {
  return `${directory}0`;
}
