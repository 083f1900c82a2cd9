import { normalPath } from "../../../core/tracking/records/artifact-tree";
import { invalidParameter } from "../errors";

/**
 * Returns a path under the artifact root in normal form.
 *
 * @throws MlflowError
 */
export function safePath(path: string): string {
  const normal = normalPath(path);
  if ("path" in normal) return normal.path;
  throw invalidParameter(normal.rule === "" ? "Invalid path" : `Invalid path: ${normal.rule}`);
}

/**
 * Returns the path of a file, which must have a name.
 *
 * @throws MlflowError
 */
export function safeFilePath(path: string): string {
  if (path === "" || path.endsWith("/")) {
    throw invalidParameter("Artifact path must include a filename (cannot end with '/').");
  }
  return safePath(path);
}

/** Returns the last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Joins paths, of which any may be empty. */
export function joined(...paths: readonly string[]): string {
  return paths.filter((path) => path !== "").join("/");
}
