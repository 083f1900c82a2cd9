import type { Platform } from "../../../adapters/platform";
import {
  artifactScheme,
  pathOfArtifactUri,
  type StoredPlace,
  storedPlace,
} from "../../../core/tracking/records/artifact-tree";
import { invalidParameter, MlflowError } from "../errors";
import { type ExportPlace, exportPlaceOf } from "../export-place";
import { safePath } from "./safe-path";

export type { StoredPlace };

/** The place of a file of MLflow's artifact root in our stores. */
export type Place = StoredPlace | ExportPlace;

/**
 * Returns a place that clients may write.
 *
 * @throws MlflowError if it is an export, which only the platform writes
 */
export function writable(place: Place): StoredPlace {
  if ("owner" in place) return place;
  throw new MlflowError(
    "PERMISSION_DENIED",
    "exports of model versions cannot be changed: log files under the run's own artifacts",
  );
}

/**
 * Returns the place of a path.
 *
 * @param path as `safePath` returns it
 */
export async function placeOf({ records }: Pick<Platform, "records">, path: string): Promise<Place> {
  return exportPlaceOf(path) ?? storedPlace((runId) => records.identify(runId), path);
}

/**
 * Returns the place of a path under a URI.
 *
 * @throws MlflowError if the files are stored elsewhere
 */
export async function placeOfUri(platform: Pick<Platform, "records">, uri: string, path: string): Promise<Place> {
  if (!uri.startsWith(artifactScheme)) {
    throw invalidParameter(
      `The files lie at '${uri}', which is not a place of this server's: fetch them from there, or log them to a location that begins with ${artifactScheme}/`,
    );
  }
  const root = safePath(pathOfArtifactUri(uri));
  return placeOf(platform, path === "" ? root : `${root}/${path}`);
}
