import type { Platform } from "../../../../adapters/platform";
import type { ArtifactEntry } from "../../../../core/tracking/artifacts";
import type { Place } from "./places";
import { baseName, joined } from "./safe-path";

/** MLflow's `FileInfo`. */
export interface FileInfo {
  readonly path: string;
  readonly is_dir: boolean;
  readonly file_size?: number;
}

/** What lies directly under a place, each called `<under>/<name>`. */
export async function listFiles(
  { artifacts }: Platform,
  { owner, path }: Place,
  under: string,
): Promise<readonly FileInfo[] | undefined> {
  const entries = await artifacts.list(owner, path);
  return entries.length === 0 ? undefined : entries.map((entry) => fileInfo(entry, under));
}

function fileInfo({ path, isDirectory, bytes }: ArtifactEntry, under: string): FileInfo {
  return {
    path: joined(under, baseName(path)),
    is_dir: isDirectory,
    // An empty file has none, with MLflow.
    ...(bytes ? { file_size: bytes } : {}),
  };
}
