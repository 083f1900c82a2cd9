import type { Platform } from "../../../adapters/platform";
import { storeArtifact } from "../../../core/registry/artifact";
import { artifactOfRun, isEvaluated } from "../../../core/registry/registration";
import {
  artifactScheme,
  modelDirectory,
  normalPath,
  pathOfArtifactUri,
  type StoredPlace,
  storedPlace,
} from "../../../core/tracking/artifacts";
import type { ArtifactEntry } from "../../../core/tracking/shapes";
import { exportVersion } from "../../export/export-version";
import { invalidParameter, MlflowError } from "../errors";
import { type ExportPlace, exportPlaceOf, listExportedFiles } from "../export-place";

/** Returns a path under the artifact root in normal form. @throws MlflowError */
export function safePath(path: string): string {
  const normal = normalPath(path);
  if ("path" in normal) return normal.path;
  throw invalidParameter(normal.rule === "" ? "Invalid path" : `Invalid path: ${normal.rule}`);
}

export function safeFilePath(path: string): string {
  if (path === "" || path.endsWith("/")) {
    throw invalidParameter("Artifact path must include a filename (cannot end with '/').");
  }
  return safePath(path);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Joins paths, of which any may be empty. */
export function joined(...paths: readonly string[]): string {
  return paths.filter((path) => path !== "").join("/");
}

export type { StoredPlace };

export type Place = StoredPlace | ExportPlace;

/** @throws MlflowError if it is an export, which only the platform writes */
export function writable(place: Place): StoredPlace {
  if ("owner" in place) return place;
  throw new MlflowError(
    "PERMISSION_DENIED",
    "exports of model versions cannot be changed: log files under the run's own artifacts",
  );
}

export async function placeOf({ records }: Pick<Platform, "records">, path: string): Promise<Place> {
  return exportPlaceOf(path) ?? storedPlace((runId) => records.identify(runId), path);
}

/** @throws MlflowError if the files are stored elsewhere */
export async function placeOfUri(platform: Pick<Platform, "records">, uri: string, path: string): Promise<Place> {
  if (!uri.startsWith(artifactScheme)) {
    throw invalidParameter(
      `The files lie at '${uri}', which is not a place of this server's: fetch them from there, or log them to a location that begins with ${artifactScheme}/`,
    );
  }
  const root = safePath(pathOfArtifactUri(uri));
  return placeOf(platform, path === "" ? root : `${root}/${path}`);
}

/** The export for MLflow, created on the first request. @throws EXPORT_TOO_LARGE, EXPORT_UNSUPPORTED */
export async function trainedModelPlace(
  platform: Platform,
  { owner, path }: StoredPlace,
): Promise<ExportPlace | undefined> {
  const [first, ...rest] = path.split("/");
  if (owner.kind !== "run" || first !== modelDirectory) return undefined;
  const details = await platform.runs.findDetails(owner.runId);
  if (details?.run.status !== "completed" || !isEvaluated(details)) return undefined;
  if (details.run.job.model.type === "container") return undefined;
  const { model, job, runId } = details.run;
  const artifact = await artifactOfRun(platform, details, model ?? job.name ?? runId);
  const { weightsSha256 } = artifact;
  const artifactKey = await storeArtifact(platform.objects, artifact);
  const tools = async () => (await import("../../services/export-tools")).exportTools;
  const version = { model: artifact.model, version: 0, artifactKey, weightsSha256 };
  const { stored } = await exportVersion(platform, tools, version, "mlflow");
  return { exported: stored.sha256, path: rest.join("/") };
}

interface FileInfo {
  readonly path: string;
  readonly is_dir: boolean;
  readonly file_size?: number;
}

/** Lists the files directly under a place, named `<under>/<name>`. */
export async function listFiles(
  platform: Platform,
  place: Place,
  under: string,
): Promise<readonly FileInfo[] | undefined> {
  const entries = await entriesOf(platform, place);
  return entries.length === 0 ? undefined : entries.map((entry) => fileInfo(entry, under));
}

async function entriesOf(platform: Platform, place: Place): Promise<readonly ArtifactEntry[]> {
  if (!("owner" in place)) return listExportedFiles(platform, place);
  const stored = await platform.artifacts.list(place.owner, place.path);
  const model = stored.length === 0 ? await trainedModelPlace(platform, place) : undefined;
  return model ? listExportedFiles(platform, model) : stored;
}

function fileInfo({ path, isDirectory, bytes }: ArtifactEntry, under: string): FileInfo {
  return {
    path: joined(under, baseName(path)),
    is_dir: isDirectory,
    // MLflow omits the size of an empty file.
    ...(bytes ? { file_size: bytes } : {}),
  };
}
