import type { ApiClient } from "../client/api-client";
import { InvalidInputError } from "../core/errors";

/** A name, and the version that is meant: a number, an alias (or `latest`), or neither. */
export interface VersionReference {
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

/**
 * Finds the version of a model that a reference means. NAME is the one in production.
 *
 * @throws InvalidInputError if the model has no such alias
 */
export async function modelVersionOf(
  client: ApiClient,
  reference: string,
): Promise<{ readonly name: string; readonly version: number }> {
  const { name, version, alias } = parseReference(reference);
  if (version !== undefined) return { name, version };
  if (alias === undefined || alias === "champion") return { name, version: (await client.production(name)).version };
  const { latestVersion, aliases } = (await client.model(name)).model;
  const found = alias === "latest" ? latestVersion : aliases[alias];
  if (found !== undefined) return { name, version: found };
  const rule = `must name an alias of ${name}: ringmaster models list`;
  throw new InvalidInputError("the model version is not known", [{ path: "model", value: reference, rule }]);
}
