import * as z from "zod";
import type { Platform } from "../../adapters/platform";
import { objectKeys } from "../../core/object-keys";
import type { ArtifactFile } from "../../core/tracking/artifacts";
import type { ArtifactEntry } from "../../core/tracking/shapes";

/** Files of a version's export, named by the digest of the export's manifest, so that nothing can change them. */
export interface ExportPlace {
  /** SHA-256 of the manifest; `undefined` if the path names none. */
  readonly exported: string | undefined;
  /** Relative to the export's directory; `""` for all of it. */
  readonly path: string;
}

const root = "ringmaster-exports";
/** Limit, because a path may name any content of the team instead of a manifest. */
const maxManifestBytes = 1024 * 1024;

const manifestFiles = z.object({
  files: z.array(z.object({ path: z.string(), sha256: z.string().regex(/^[0-9a-f]{64}$/), bytes: z.number() })),
});

/** Returns the URI of an export under MLflow's artifact root. @param manifest SHA-256 of its manifest */
export function exportUri(manifest: string): string {
  return `mlflow-artifacts:/${root}/${manifest}`;
}

/** Returns the place in the exports' directory, which only the platform writes. @param path as `safePath` returns it */
export function exportPlaceOf(path: string): ExportPlace | undefined {
  const [first, manifest = "", ...rest] = path.split("/");
  if (first !== root) return undefined;
  return { exported: /^[0-9a-f]{64}$/.test(manifest) ? manifest : undefined, path: rest.join("/") };
}

export async function findExportedFile(
  platform: Pick<Platform, "objects">,
  { exported, path }: ExportPlace,
): Promise<ArtifactFile | undefined> {
  return (await filesOf(platform, exported)).find((file) => file.path === path);
}

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
  manifest: ExportPlace["exported"],
): Promise<readonly ArtifactFile[]> {
  if (manifest === undefined) return [];
  const bytes = await objects.size(objectKeys.content(manifest));
  if (bytes === undefined || bytes > maxManifestBytes) return [];
  return filesIn(new TextDecoder().decode(await objects.getContent(manifest)));
}

function filesIn(text: string): readonly ArtifactFile[] {
  try {
    return manifestFiles.safeParse(JSON.parse(text)).data?.files ?? [];
  } catch {
    return [];
  }
}
