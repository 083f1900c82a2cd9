import type { Platform } from "../../../../adapters/platform";
import { invalidParameter } from "../errors";
import { parseModelUri } from "./model-uri";

/** Whose files a version's source must be among: of a run, or of a logged model. */
export interface SourceOwner {
  readonly runId: string;
  readonly modelId: string;
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
 * Refuses a source that is not its owner's, or that climbs: `_validate_source_run` and `_validate_source_model` of `mlflow/server/handlers.py`. A place
 * elsewhere (`s3://…`, `hdfs://…`) is taken as it is.
 *
 * @throws MlflowError
 */
export async function checkSource(platform: Platform, source: string, owner: SourceOwner): Promise<void> {
  const kind = owner.modelId === "" ? "run_id" : "model_id";
  const scheme = schemeOf(source);
  if (hostAddressed.has(scheme) || /^mlflow-artifacts:\/\/[^/]/i.test(source)) {
    throw invalidParameter(
      `'source' cannot use the '${scheme}' scheme: it addresses a host other than this server. Log the model's files here, or register them from an object store.`,
    );
  }
  if (isLocal(source, scheme)) {
    const what = kind === "run_id" ? "run" : "model";
    throw invalidParameter(
      `Invalid model version source: '${source}'. To use a local path as a model version source, the ${kind} request parameter has to be specified and the local path has to be contained within the artifact directory of the ${what} specified by it.`,
    );
  }
  if (climbs(source)) {
    throw invalidParameter(
      `Invalid model version source: '${source}'. If supplying a source as an http, https, local file path, ftp, objectstore, or mlflow-artifacts uri, an absolute path must be provided without relative path references present. Please provide an absolute path.`,
    );
  }
  if (scheme === "runs") {
    const runId = /^runs:\/+([^/]+)\/./.exec(source)?.[1];
    if (/^runs:\/\/[^/]/.test(source) || kind === "model_id" || !owner.runId || runId !== owner.runId) {
      throw notTheSources(source, kind);
    }
  } else if (scheme === "models") {
    if (/^models:\/\/[^/]/.test(source)) throw notTheSources(source, "model_id");
    const uri = parseModelUri(source);
    if ("modelId" in uri && (owner.modelId === "" || uri.modelId !== owner.modelId)) {
      throw notTheSources(source, "model_id");
    }
  } else if (scheme === "mlflow-artifacts") {
    const root = await rootOf(platform, owner);
    if (root === undefined || !within(source, root)) throw notTheSources(source, kind);
  }
}

async function rootOf(platform: Platform, { runId, modelId }: SourceOwner): Promise<string | undefined> {
  if (modelId !== "") return (await platform.loggedModels.find(modelId))?.artifactLocation;
  return runId === "" ? undefined : (await platform.records.find(runId))?.artifactUri;
}

export function notTheSources(source: string, parameter: "run_id" | "model_id"): Error {
  return invalidParameter(
    `Invalid model version source: '${source}'. The ${parameter} request parameter must identify the resource that contains the source.`,
  );
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
  return path.includes("\u0000") || parts.includes("..") || path.split("/").includes(".");
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
