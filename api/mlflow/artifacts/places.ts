import type { Platform } from "../../../adapters/platform";
import {
  artifactScheme,
  pathOfArtifactUri,
  type StoredPlace,
  storedPlace,
} from "../../../core/tracking/records/artifact-tree";
import { invalidParameter, MlflowError } from "../errors";
import { type ExportPlace, exportPlaceOf } from "./export-place";
import { safePath } from "./safe-path";

export type { StoredPlace };

/** Where a file of MLflow's artifact root is kept with us. */
export type Place = StoredPlace | ExportPlace;

/** @throws MlflowError where the place is an export, which the platform alone writes */
export function writable(place: Place): StoredPlace {
  if ("owner" in place) return place;
  throw new MlflowError(
    "PERMISSION_DENIED",
    "exports of model versions cannot be changed: log files under the run's own artifacts",
  );
}

/** @param path as `safePath` answers it */
export async function placeOf({ records }: Pick<Platform, "records">, path: string): Promise<Place> {
  return exportPlaceOf(path) ?? storedPlace((runId) => records.identify(runId), path);
}

/** The place that a URI names, with `path` under it. @throws MlflowError where its files are not here */
export async function placeOfUri(platform: Pick<Platform, "records">, uri: string, path: string): Promise<Place> {
  if (!uri.startsWith(artifactScheme)) {
    throw invalidParameter(
      `The files lie at '${uri}', which is not a place of this server's: fetch them from there, or log them to a location that begins with ${artifactScheme}/`,
    );
  }
  const root = safePath(pathOfArtifactUri(uri));
  return placeOf(platform, path === "" ? root : `${root}/${path}`);
}
