import type { ApiClient } from "../client/api-client";
import { InvalidInputError } from "../core/errors";
import type { ModelArtifact } from "../core/evaluation/model-artifact";
import { type ModelReference, parseModelReference } from "./model-reference";

/**
 * Finds a version and its artifact: NAME (the one in production), NAME@3, NAME/3, NAME@ALIAS or NAME@latest.
 *
 * @throws InvalidInputError if it has none, or the alias is unknown
 */
export async function artifactOf(client: ApiClient, which: string) {
  const reference = parseModelReference(which);
  const { name } = reference;
  const refuse = (rule: string) =>
    new InvalidInputError("the model cannot be loaded", [{ path: "model", value: which, rule }]);
  const found = await versionOf(client, reference);
  if (found === undefined) throw refuse(`must name an alias of ${name}: ringmaster models list`);
  const { version, artifact } = found;
  if (artifact === undefined) {
    throw refuse(`must be a version that was trained by Ringmaster; version ${version} was registered from elsewhere`);
  }
  return { model: name, version, artifact };
}

async function versionOf(
  client: ApiClient,
  { name, version: number, alias }: ModelReference,
): Promise<{ readonly version: number; readonly artifact?: ModelArtifact | undefined } | undefined> {
  if (number === undefined && (alias === undefined || alias === "champion")) return client.production(name);
  const version = number ?? (await versionOfAlias(client, name, alias ?? ""));
  if (version === undefined) return undefined;
  return { version, ...(await client.call("getModelArtifact", { params: { name, version } })) };
}

async function versionOfAlias(client: ApiClient, name: string, alias: string): Promise<number | undefined> {
  const { model } = await client.model(name);
  return alias === "latest" ? model.latestVersion : model.aliases[alias];
}
