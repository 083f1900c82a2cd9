import type { Platform } from "../../../../adapters/platform";
import type { ArtifactOwner } from "../../../../core/tracking/artifacts";
import { invalidParameter, MlflowError } from "../errors";
import { type ExportPlace, exportPlaceOf } from "./export-place";
import { safePath } from "./safe-path";

/** Where a file of MLflow's artifact root is kept with us. */
export type Place = StoredPlace | ExportPlace;

/** A place that clients write to. */
export interface StoredPlace {
  readonly owner: ArtifactOwner;
  /** Of the owner's; `""` for all of it. */
  readonly path: string;
  /** Of a run's or a model's: the path of the root under which the owner's files lie. */
  readonly folder?: string;
}

const scheme = "mlflow-artifacts:";

/** @throws MlflowError where the place is an export, which the platform alone writes */
export function writable(place: Place): StoredPlace {
  if ("owner" in place) return place;
  const { runId, format } = place.exported;
  throw new MlflowError(
    "PERMISSION_DENIED",
    `the export '${format}' of run ${runId} cannot be changed: log files under the run's own artifacts`,
  );
}

/**
 * MLflow's artifact root is one tree of names. What lies under `…/<run>/artifacts` is the run's, wherever its experiment's location is; under
 * `…/models/<model>/artifacts` the logged model's; the rest is the team's.
 *
 * @param path as `safePath` answers it
 */
export async function placeOf({ records }: Pick<Platform, "records">, path: string): Promise<Place> {
  const exported = exportPlaceOf(path);
  if (exported) return exported;
  const parts = path.split("/");
  for (let at = parts.indexOf("artifacts", 1); at > 0; at = parts.indexOf("artifacts", at + 1)) {
    const id = parts[at - 1]!;
    const place = { path: parts.slice(at + 1).join("/"), folder: parts.slice(0, at + 1).join("/") };
    if (isModelId(id) && parts[at - 2] === "models") return { owner: { kind: "logged-model", modelId: id }, ...place };
    if (isRunId(id) && (await records.identify(id))) return { owner: { kind: "run", runId: id }, ...place };
  }
  return { owner: { kind: "team" }, path };
}

/** The place that a URI names, with `path` under it. @throws MlflowError where its files are not here */
export async function placeOfUri(platform: Pick<Platform, "records">, uri: string, path: string): Promise<Place> {
  if (!uri.startsWith(scheme)) {
    throw invalidParameter(
      `The files lie at '${uri}', which is not a place of this server's: fetch them from there, or log them to a location that begins with ${scheme}/`,
    );
  }
  const root = safePath(
    uri
      .slice(scheme.length)
      .replace(/^\/\/[^/]*/, "")
      .replace(/^\/+/, ""),
  );
  return placeOf(platform, path === "" ? root : `${root}/${path}`);
}

function isModelId(id: string): boolean {
  return /^m-[0-9a-f]{32}$/.test(id);
}

/** Keeps what cannot be one from being asked for. */
function isRunId(id: string): boolean {
  return /^[a-zA-Z0-9][\w-]{0,255}$/.test(id);
}
