import type { Platform } from "../../../adapters/platform";
import type { ArtifactEntry } from "../../../core/tracking/shapes";
import { listExportedFiles } from "../export-place";
import type { Place } from "./places";
import { baseName, joined } from "./safe-path";

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
  const entries =
    "owner" in place
      ? await platform.artifacts.list(place.owner, place.path)
      : await listExportedFiles(platform, place);
  return entries.length === 0 ? undefined : entries.map((entry) => fileInfo(entry, under));
}

function fileInfo({ path, isDirectory, bytes }: ArtifactEntry, under: string): FileInfo {
  return {
    path: joined(under, baseName(path)),
    is_dir: isDirectory,
    // MLflow omits the size of an empty file.
    ...(bytes ? { file_size: bytes } : {}),
  };
}
