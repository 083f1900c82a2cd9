import { unquoted } from "../tracking/artifacts";
import type { LoggedModels } from "../tracking/logged-model";
import type { RunRecords } from "../tracking/run-records";
import { hasPassword } from "../url-password";

/** The owner of the files of a version's source: a run or a logged model; empty if there is none. */
export interface SourceOwner {
  readonly runId: string;
  readonly modelId: string;
}

/** The error of a source. `not-the-runs`, `not-the-models`: the source is outside the given run or logged model. */
export type SourceFault =
  | "has-password"
  | "names-a-host"
  | "local"
  | "climbs"
  | "no-model-uri"
  | "not-the-runs"
  | "not-the-models";

export interface SourcePorts {
  readonly records: Pick<RunRecords, "find">;
  readonly loggedModels: Pick<LoggedModels, "find">;
}

/** Schemes that name a host. A caller must not make the server connect to hosts of its choice. */
const hostAddressed: ReadonlySet<string> = new Set([
  "ftp",
  "sftp",
  "hdfs",
  "viewfs",
  "http",
  "https",
  "r2",
  "b2",
  "abfss",
]);

/**
 * Checks a version's source; the rule for every API that registers versions. A source must belong to its owner and must
 * not leave it: `_validate_source_run` and `_validate_source_model` of `mlflow/server/handlers.py`. A location
 * elsewhere (`s3://…`, `gs://…`) is accepted unchanged. The caller must check that the version of `models:/name/…`
 * exists.
 */
export async function sourceFault(
  ports: SourcePorts,
  source: string,
  owner: SourceOwner,
): Promise<SourceFault | undefined> {
  const notIts = owner.modelId === "" ? "not-the-runs" : "not-the-models";
  const scheme = schemeOf(source);
  if (hasPassword(source)) return "has-password";
  if (namesHost(source)) return "names-a-host";
  if (isLocal(source, scheme)) return "local";
  if (climbs(source)) return "climbs";
  switch (scheme) {
    case "runs": {
      const runId = /^runs:\/+([^/]+)\/./.exec(source)?.[1];
      const its = !/^runs:\/\/[^/]/.test(source) && owner.modelId === "" && owner.runId !== "" && runId === owner.runId;
      return its ? undefined : notIts;
    }
    case "models": {
      if (/^models:\/\/[^/]/.test(source)) return "not-the-models";
      const uri = readModelUri(source);
      if (uri === undefined) return "no-model-uri";
      const its = !("modelId" in uri) || (owner.modelId !== "" && uri.modelId === owner.modelId);
      return its ? undefined : "not-the-models";
    }
    case "mlflow-artifacts": {
      const root = await rootOf(ports, owner);
      return root !== undefined && within(source, root) ? undefined : notIts;
    }
    default:
      return undefined;
  }
}

async function rootOf(
  { records, loggedModels }: SourcePorts,
  { runId, modelId }: SourceOwner,
): Promise<string | undefined> {
  if (modelId !== "") return (await loggedModels.find(modelId))?.artifactLocation;
  return runId === "" ? undefined : (await records.find(runId))?.artifactUri;
}

function namesHost(source: string): boolean {
  return hostAddressed.has(schemeOf(source)) || /^mlflow-artifacts:\/\/[^/]/i.test(source);
}

/** Returns the scheme in lower case; empty if there is none. */
export function schemeOf(uri: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase() ?? "";
}

function isLocal(source: string, scheme: string): boolean {
  return scheme === "" || scheme === "file" || /^[a-z]:[\\/]/i.test(source);
}

/** Whether a source leaves its folder. Decoded until nothing changes, because a client may decode it repeatedly. */
function climbs(source: string): boolean {
  let current = source;
  for (;;) {
    const decoded = unquoted(current.replaceAll("+", " "));
    if (decoded === current) break;
    current = decoded;
  }
  const path = current.replace(/^[^:]*:(?:\/\/[^/]*)?/, "").replace(/[?#].*$/s, "");
  const parts = current.split("/");
  // The meaning of a URI without a path, or with a relative path, depends on the client.
  const names = path.startsWith("/") && path.split("/").some((part) => part !== "");
  return !names || path.includes("\u0000") || parts.includes("..") || path.split("/").includes(".");
}

function within(source: string, root: string): boolean {
  const inner = partsOf(source);
  const outer = partsOf(root);
  return (
    schemeOf(source) === schemeOf(root) &&
    inner.authority === outer.authority &&
    outer.parts.length > 0 &&
    outer.parts.every((part, i) => inner.parts[i] === part)
  );
}

function partsOf(uri: string): { readonly authority: string; readonly parts: readonly string[] } {
  const [, authority = "", path = ""] = /^[^:]*:(?:\/\/([^/?#]*))?([^?#]*)/.exec(uri) ?? [];
  const parts = path.split("/").filter((part) => part !== "");
  return { authority: authority.toLowerCase(), parts: parts.map(decodedFully) };
}

function decodedFully(part: string): string {
  let current = part;
  for (;;) {
    const decoded = unquoted(current);
    if (decoded === current) return current;
    current = decoded;
  }
}

/** The target of a `models:/…` URI: a logged model, or a version by number, stage, alias or as the latest. */
export type ModelUri =
  | { readonly modelId: string }
  | { readonly name: string; readonly version?: string; readonly stage?: string; readonly alias?: string };

/** Parses a URI like `mlflow/store/artifact/utils/models.py`. @returns `undefined` if it is no such URI */
export function readModelUri(uri: string): ModelUri | undefined {
  const path = /^models:(\/.+)$/s.exec(uri)?.[1];
  if (path === undefined) return undefined;
  const parts = path.replace(/^\/+/, "").split("/");
  const [name = "", suffix] = parts;
  if (parts.length > 2 || name.trim() === "") return undefined;
  if (suffix !== undefined) {
    if (suffix.trim() === "") return undefined;
    if (/^\d+$/.test(suffix)) return { name, version: suffix };
    return suffix.toLowerCase() === "latest" ? { name } : { name, stage: suffix };
  }
  const at = name.lastIndexOf("@");
  if (at >= 0) {
    const alias = name.slice(at + 1);
    return at === 0 || alias.trim() === "" ? undefined : { name: name.slice(0, at), alias };
  }
  return { modelId: name };
}
