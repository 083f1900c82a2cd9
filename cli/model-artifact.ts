import type { ApiClient } from "../client/api-client";
import { InvalidInputError } from "../core/errors";
import { modelVersionOf } from "./model-reference";

/**
 * Finds a version and its artifact: NAME (the one in production), NAME@3 or NAME@ALIAS.
 *
 * @throws InvalidInputError if it has none, or the alias is unknown
 */
export async function artifactOf(client: ApiClient, which: string) {
  const { name, version } = await modelVersionOf(client, which);
  const { artifact } = await client.call("getModelArtifact", { params: { name, version } });
  if (artifact === undefined) {
    const rule = `must be a version that was trained by Ringmaster; version ${version} was registered from elsewhere`;
    throw new InvalidInputError("the model cannot be loaded", [{ path: "model", value: which, rule }]);
  }
  return { model: name, version, artifact };
}
