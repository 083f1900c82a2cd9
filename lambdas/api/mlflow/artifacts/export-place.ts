import type { Platform } from "../../../../adapters/platform";
import { findExport } from "../../../../core/export/export-version";
import { type ExportFormat, exportFormats } from "../../../../core/export/formats";
import type { ArtifactEntry, ArtifactFile } from "../../../../core/tracking/artifacts";

/** Files of the export of a run's model: read-only, named by the export's manifest. */
export interface ExportPlace {
  readonly exported: { readonly runId: string; readonly format: ExportFormat };
  /** Relative to the export's directory; `""` for all of it. */
  readonly path: string;
}

const root = "ringmaster-exports";

/** Where clients find an export, under MLflow's artifact root. */
export function exportUri(runId: string, format: ExportFormat): string {
  return `mlflow-artifacts:/${root}/${runId}/${format}`;
}

/** @param path as `safePath` answers it */
export function exportPlaceOf(path: string): ExportPlace | undefined {
  const [first, runId, name, ...rest] = path.split("/");
  const format = exportFormats.find((each) => each === name);
  if (first !== root || runId === undefined || format === undefined) return undefined;
  return { exported: { runId, format }, path: rest.join("/") };
}

export async function findExportedFile(
  platform: Pick<Platform, "objects">,
  { exported, path }: ExportPlace,
): Promise<ArtifactFile | undefined> {
  return (await filesOf(platform, exported)).find((file) => file.path === path);
}

/** What lies directly under the place. */
export async function listExportedFiles(
  platform: Pick<Platform, "objects">,
  { exported, path }: ExportPlace,
): Promise<readonly ArtifactEntry[]> {
  const prefix = path === "" ? "" : `${path}/`;
  const entries = new Map<string, ArtifactEntry>();
  for (const file of await filesOf(platform, exported)) {
    if (!file.path.startsWith(prefix)) continue;
    const [name = "", ...inside] = file.path.slice(prefix.length).split("/");
    const isDirectory = inside.length > 0;
    entries.set(name, { path: prefix + name, isDirectory, ...(isDirectory ? {} : { bytes: file.bytes }) });
  }
  return [...entries.values()];
}

async function filesOf(
  { objects }: Pick<Platform, "objects">,
  { runId, format }: ExportPlace["exported"],
): Promise<readonly ArtifactFile[]> {
  return (await findExport(objects, { runId }, format))?.files ?? [];
}
