import type { Champion } from "../evaluation/champion";
import type { ObjectStore } from "../ports";
import { readArtifact } from "./artifact";
import type { Registry } from "./registry";

/**
 * Returns the champion for a comparison; `undefined` if there is none, or if it was registered from elsewhere and
 * cannot be loaded here.
 */
export async function findChampion(
  { registry, objects }: { readonly registry: Registry; readonly objects: ObjectStore },
  model: string,
): Promise<Champion | undefined> {
  const head = await registry.repository.find(model);
  if (head?.production === undefined) return undefined;
  const production = await registry.version(model, head.production);
  const { version, artifactKey } = production;
  const artifact = await readArtifact(objects, production);
  return artifactKey === undefined || artifact === undefined ? undefined : { version, artifactKey, artifact };
}
