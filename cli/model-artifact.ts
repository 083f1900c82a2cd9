import type { ApiClient } from "../client/api-client";
import { InvalidInputError } from "../core/errors";
import type { ModelArtifact } from "../core/evaluation/model-artifact";

/**
 * Finds a version and its artifact: NAME (the one in production), NAME/3 or NAME@ALIAS.
 *
 * @throws InvalidInputError if it has none, or the alias is unknown
 */
export async function artifactOf(client: ApiClient, which: string) {
  const [, name = which, number, alias] = /^(.+?)(?:\/(\d+)|@([^/@]+))$/.exec(which) ?? [];
  const refuse = (rule: string) =>
    new InvalidInputError("the model cannot be loaded", [{ path: "model", value: which, rule }]);
  const found = await versionOf(client, name, number, alias);
  if (found === undefined) throw refuse(`must name an alias of ${name}: ringmaster models list`);
  const { version, artifact } = found;
  if (artifact === undefined) {
    throw refuse(`must be a version that was trained by Ringmaster; version ${version} was registered from elsewhere`);
  }
  return { model: name, version, artifact };
}

async function versionOf(
  client: ApiClient,
  name: string,
  number: string | undefined,
  alias: string | undefined,
): Promise<{ readonly version: number; readonly artifact?: ModelArtifact | undefined } | undefined> {
  if (number === undefined && (alias === undefined || alias === "champion")) return client.production(name);
  const version = number === undefined ? (await client.model(name)).model.aliases[alias ?? ""] : Number(number);
  if (version === undefined) return undefined;
  return { version, ...(await client.call("getModelArtifact", { params: { name, version } })) };
}
