import { objectKeys } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import type { Artifacts } from "../../core/tracking/artifacts";
import type { ArtifactEntry } from "../../core/tracking/shapes";

const fileLimits = { entries: 300, directories: 40, images: 6, imageBytes: 400_000, allImageBytes: 1_200_000 } as const;

/** Image types that a browser draws without running code. */
const imageTypes: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/** The ports that read the files of a run. */
export interface RunFilesPorts {
  readonly artifacts: Pick<Artifacts, "list">;
  readonly objects: Pick<ObjectStore, "getRange">;
}

/** The part of a run's page that shows its files. */
export interface RunFiles {
  readonly files: readonly ArtifactEntry[];
  readonly moreFiles: boolean;
  readonly images: readonly { readonly path: string; readonly dataUrl: string }[];
}

/**
 * Reads a run's files, one directory after another up to the limits of a page, and the first small images among them.
 */
export async function filesOf(ports: RunFilesPorts, runId: string): Promise<RunFiles> {
  const owner = { kind: "run", runId } as const;
  const waiting = [""];
  const found: ArtifactEntry[] = [];
  let looked = 0;
  while (waiting.length > 0 && looked < fileLimits.directories && found.length < fileLimits.entries) {
    looked += 1;
    for (const entry of await ports.artifacts.list(owner, waiting.shift()!)) {
      if (entry.isDirectory) waiting.push(entry.path);
      else found.push(entry);
    }
  }
  const files = found.sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, fileLimits.entries);
  const moreFiles = waiting.length > 0 || found.length > fileLimits.entries;
  return { files, moreFiles, images: await imagesOf(ports, files) };
}

async function imagesOf(
  { objects }: Pick<RunFilesPorts, "objects">,
  files: readonly ArtifactEntry[],
): Promise<RunFiles["images"]> {
  let left: number = fileLimits.allImageBytes;
  const small = files.filter(({ path, bytes = 0, sha256 }) => {
    if (typeOf(path) === undefined || sha256 === undefined || bytes === 0 || bytes > fileLimits.imageBytes)
      return false;
    left -= bytes;
    return left >= 0;
  });
  const read = small.slice(0, fileLimits.images).map(async ({ path, bytes = 0, sha256 = "" }) => {
    const content = await objects.getRange(objectKeys.content(sha256), 0, bytes);
    return { path, dataUrl: `data:${typeOf(path)};base64,${Buffer.from(content).toString("base64")}` };
  });
  return Promise.all(read);
}

function typeOf(path: string): string | undefined {
  const extension = /\.([a-z]{3,4})$/i.exec(path)?.[1]?.toLowerCase();
  return extension !== undefined && Object.hasOwn(imageTypes, extension) ? imageTypes[extension] : undefined;
}
