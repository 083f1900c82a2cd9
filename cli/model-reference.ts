import type { ApiClient } from "../client/api-client";
import { InvalidInputError } from "../core/errors";

/** Finds NAME (the one in production), NAME@3 or NAME@ALIAS. @throws InvalidInputError */
export async function artifactOf(client: ApiClient, which: string) {
  const { name, version } = await modelVersionOf(client, which);
  const { artifact } = await client.call("getModelArtifact", { params: { name, version } });
  if (artifact === undefined) {
    const rule = `must be a version that was trained by Ringmaster; version ${version} was registered from elsewhere`;
    throw new InvalidInputError("the model cannot be loaded", [{ path: "model", value: which, rule }]);
  }
  return { model: name, version, artifact };
}

/** A name, and the version that is meant: a number, an alias (or `latest`), or neither. */
interface VersionReference {
  readonly name: string;
  readonly version?: number;
  readonly alias?: string;
}

/** Reads NAME, NAME@3 or NAME/3 (as MLflow writes it), NAME@ALIAS and NAME@latest. */
export function parseReference(text: string): VersionReference {
  const [, name, version, alias] = /^(.+?)(?:[/@]([1-9]\d*)|@([^/@]+))$/.exec(text) ?? [];
  if (name === undefined) return { name: text };
  return version === undefined ? { name, alias: alias ?? "" } : { name, version: Number(version) };
}

/** NAME is the version in production. @throws InvalidInputError if the model has no such alias */
export async function modelVersionOf(
  client: ApiClient,
  reference: string,
): Promise<{ readonly name: string; readonly version: number }> {
  const { name, version, alias } = parseReference(reference);
  if (version !== undefined) return { name, version };
  if (alias === undefined || alias === "champion") return { name, version: (await client.production(name)).version };
  const { latestVersion, aliases } = (await client.model(name)).model;
  const resolved = alias === "latest" ? latestVersion : aliases[alias];
  if (resolved !== undefined) return { name, version: resolved };
  const rule = `must name an alias of ${name}: ringmaster models list`;
  throw new InvalidInputError("the model version is not known", [{ path: "model", value: reference, rule }]);
}
