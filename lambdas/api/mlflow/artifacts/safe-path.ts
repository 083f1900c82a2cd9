import { artifactPathRule } from "../../../../core/tracking/records/artifact-paths";
import { invalidParameter } from "../errors";

/** As often as MLflow decodes. */
const mostDecodings = 10;

/**
 * A path under the artifacts' root, of normal form. As MLflow's server (`validate_path_is_safe`) it is percent-decoded until nothing changes any more, and
 * refused where it is absolute, climbs, or has a fragment.
 *
 * @throws MlflowError
 */
export function safePath(path: string): string {
  const decoded = escapeControlCharacters(decode(path));
  if (
    decoded.includes("#") ||
    decoded.startsWith("/") ||
    /^[a-z]:[\\/]/i.test(decoded) ||
    decoded.startsWith("\\\\") ||
    /^file:/i.test(decoded) ||
    decoded.split("/").includes("..")
  ) {
    throw invalidParameter("Invalid path");
  }
  const normal = decoded
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
  const rule = normal === "" ? undefined : artifactPathRule(normal);
  if (rule !== undefined) throw invalidParameter(`Invalid path: ${JSON.stringify(normal.slice(0, 200))} ${rule}`);
  return normal;
}

/** A file's: one with a name. */
export function safeFilePath(path: string): string {
  if (path === "" || path.endsWith("/")) {
    throw invalidParameter("Artifact path must include a filename (cannot end with '/').");
  }
  return safePath(path);
}

function decode(path: string): string {
  let current = path;
  for (let i = 0; i < mostDecodings; i += 1) {
    const decoded = decodeOnce(current);
    if (decoded === current) return current;
    current = decoded;
  }
  throw invalidParameter("Invalid path");
}

/** Percent signs that begin no sequence stay as they are, as Python's `unquote` has it; bytes that are no UTF-8 become U+FFFD. */
function decodeOnce(path: string): string {
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}

function escapeControlCharacters(path: string): string {
  return path.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /[\u0000-\u001f\u007f]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** `a/b` under `c`: `c/a/b`; either may be empty. */
export function joined(...paths: readonly string[]): string {
  return paths.filter((path) => path !== "").join("/");
}
