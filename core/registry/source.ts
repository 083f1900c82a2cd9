import type { LoggedModels } from "../tracking/logged-model";
import type { RunRecords } from "../tracking/run-records";
import { readModelUri } from "./model-uri";

/** Whose files a version's source must be among: of a run, or of a logged model; empty where there is none. */
export interface SourceOwner {
  readonly runId: string;
  readonly modelId: string;
}

/** What is wrong with a source. `not-the-runs`, `not-the-models`: it is not the run's, or the logged model's, that is named with it. */
export type SourceFault = "names-a-host" | "local" | "climbs" | "no-model-uri" | "not-the-runs" | "not-the-models";

/** Who knows where an owner's files lie. */
export interface SourcePorts {
  readonly records: Pick<RunRecords, "find">;
  readonly loggedModels: Pick<LoggedModels, "find">;
}

/** Places that name the host which keeps them: nobody is to make a server ask hosts of his choice. */
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
 * The rule of every door by which versions are registered. A source is its owner's and does not climb: `_validate_source_run` and
 * `_validate_source_model` of `mlflow/server/handlers.py`; a place elsewhere (`s3://…`, `gs://…`) is taken as it is. That a version which `models:/name/…`
 * names is there, whoever asks has to see for himself.
 */
export async function sourceFault(
  ports: SourcePorts,
  source: string,
  owner: SourceOwner,
): Promise<SourceFault | undefined> {
  const notIts = owner.modelId === "" ? "not-the-runs" : "not-the-models";
  const scheme = schemeOf(source);
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

/** Lower-case; empty where there is none. */
export function schemeOf(uri: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(uri)?.[1]?.toLowerCase() ?? "";
}

function isLocal(source: string, scheme: string): boolean {
  return scheme === "" || scheme === "file" || /^[a-z]:[\\/]/i.test(source);
}

/** Decoded until nothing changes, as whoever follows it might. */
function climbs(source: string): boolean {
  let current = source;
  for (;;) {
    const decoded = unquoted(current.replaceAll("+", " "));
    if (decoded === current) break;
    current = decoded;
  }
  const path = current.replace(/^[^:]*:(?:\/\/[^/]*)?/, "").replace(/[?#].*$/s, "");
  const parts = current.split("/");
  // One without a path, or with one that does not begin at its root, means what its reader takes it for.
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

/** Python's `unquote`. */
function unquoted(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}
