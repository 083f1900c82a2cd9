import type { ArtifactOwner } from "../artifacts";
import { artifactPathRule, type RunIdentity } from "../shapes";

/** The place of a file or directory of the team's artifact tree. */
export interface StoredPlace {
  readonly owner: ArtifactOwner;
  /** Relative to the owner's root; `""` for the root itself. */
  readonly path: string;
  /** The path of a run's or a logged model's root in the team's tree. */
  readonly folder?: string;
}

/** Number of times that MLflow's server decodes a path. */
const maxDecodings = 10;

/**
 * Converts a client's path under the artifact root to its normal form. As in MLflow's server (`validate_path_is_safe`),
 * the path is percent-decoded until nothing changes. A path that is absolute, leaves the root, or has a fragment is
 * refused.
 *
 * @returns the normal path, `""` for the root; or the rule that the path breaks, `""` if there is no explanation
 */
export function normalPath(path: string): { readonly path: string } | { readonly rule: string } {
  const unescaped = decode(path);
  if (unescaped === undefined) return { rule: "" };
  const decoded = escapeControlCharacters(unescaped);
  if (
    decoded.includes("#") ||
    decoded.startsWith("/") ||
    /^[a-z]:[\\/]/i.test(decoded) ||
    decoded.startsWith("\\\\") ||
    /^file:/i.test(decoded) ||
    decoded.split("/").includes("..")
  ) {
    return { rule: "" };
  }
  const normal = decoded
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
  const rule = normal === "" ? undefined : artifactPathRule(normal);
  return rule === undefined ? { path: normal } : { rule: `${JSON.stringify(normal.slice(0, 200))} ${rule}` };
}

/**
 * Finds the owner of a path. Files under `…/<run>/artifacts` belong to the run, wherever its experiment is located.
 * Files under `…/models/<model>/artifacts` belong to the logged model. Other files belong to the team.
 *
 * @param path in normal form
 */
export async function storedPlace(
  identify: (runId: string) => Promise<RunIdentity | undefined>,
  path: string,
): Promise<StoredPlace> {
  const parts = path.split("/");
  for (let at = parts.indexOf("artifacts", 1); at > 0; at = parts.indexOf("artifacts", at + 1)) {
    const id = parts[at - 1]!;
    const place = { path: parts.slice(at + 1).join("/"), folder: parts.slice(0, at + 1).join("/") };
    if (isModelId(id) && parts[at - 2] === "models") return { owner: { kind: "logged-model", modelId: id }, ...place };
    if (isRunId(id) && (await identify(id))) return { owner: { kind: "run", runId: id }, ...place };
  }
  return { owner: { kind: "team" }, path };
}

/** The scheme of URIs of the team's artifact tree. */
export const artifactScheme = "mlflow-artifacts:";

/** Returns the path that a URI of the artifact tree names, not yet in normal form. */
export function pathOfArtifactUri(uri: string): string {
  return uri
    .slice(artifactScheme.length)
    .replace(/^\/\/[^/]*/, "")
    .replace(/^\/+/, "");
}

function decode(path: string): string | undefined {
  let current = path;
  for (let i = 0; i < maxDecodings; i += 1) {
    const decoded = unquoted(current);
    if (decoded === current) return current;
    current = decoded;
  }
  return undefined;
}

/**
 * Decodes percent sequences once. Percent signs that start no sequence stay, as in Python's `unquote`. Bytes that are
 * not UTF-8 become U+FFFD.
 */
export function unquoted(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}

function escapeControlCharacters(path: string): string {
  return path.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /[\u0000-\u001f\u007f]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

function isModelId(id: string): boolean {
  return /^m-[0-9a-f]{32}$/.test(id);
}

/** Avoids a read for names that cannot be a run's id. */
function isRunId(id: string): boolean {
  return /^[a-zA-Z0-9][\w-]{0,255}$/.test(id);
}
