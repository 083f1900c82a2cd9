import { artifactManifest, type ModelArtifact } from "../evaluation/model-artifact";
import { CorruptObjectError, getJsonContent } from "../object-documents";
import { objectKeys } from "../object-keys";
import type { ObjectStore } from "../ports";
import type { ModelVersion } from "./model";

type Named = Pick<ModelVersion, "artifactKey" | "weightsSha256">;

/** Stores a manifest under a key with its digest, so that a row with the key determines the bytes. @returns the key */
export async function storeArtifact(objects: ObjectStore, artifact: ModelArtifact): Promise<string> {
  const { sha256 } = await objects.putContent(JSON.stringify(artifact), "application/json");
  return objectKeys.content(sha256);
}

/**
 * Reads the artifact manifest of a version and verifies it against the version's row: the digest in its key, and the
 * weights.
 * @returns `undefined` if the version has no manifest because it was registered from elsewhere
 * @throws ObjectNotFoundError, CorruptObjectError
 */
export async function readArtifact(
  objects: ObjectStore,
  { artifactKey, weightsSha256 }: Named,
): Promise<ModelArtifact | undefined> {
  if (artifactKey === undefined) return undefined;
  const artifact = await getJsonContent(objects, artifactKey.slice(-64), artifactManifest);
  if (artifact.weightsSha256 !== weightsSha256) {
    throw new CorruptObjectError(
      artifactKey,
      `the manifest of weights ${weightsSha256}`,
      `that of weights ${artifact.weightsSha256}`,
    );
  }
  return artifact;
}
