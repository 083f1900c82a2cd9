import type { Platform } from "../../../adapters/platform";
import type { ArtifactEntry } from "../../../core/tracking/shapes";
import { listExportedFiles } from "../export-place";
import type { Place } from "./places";
import { baseName, joined } from "./safe-path";
import { trainedModelPlace } from "./trained-model";

/** MLflow's `FileInfo`. */
export interface FileInfo {
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
