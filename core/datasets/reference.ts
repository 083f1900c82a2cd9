import { InvalidInputError } from "../errors";
import {
  DatasetNotFoundError,
  DatasetVersionDeprecatedError,
  DatasetVersionNotFoundError,
  NoActiveVersionError,
} from "./errors";
import type { DatasetRepository } from "./repository";
import type { DatasetVersion } from "./shapes";

/** `name`, `name@3` or `name@latest`. */
export interface DatasetReference {
  readonly name: string;
  /** If absent, the newest version that is not deprecated. */
  readonly version?: number;
}

/**
 * Parses `name`, `name@3` or `name@latest`.
 *
 * @throws InvalidInputError
 */
export function parseDatasetReference(text: string): DatasetReference {
  const match = /^([a-z0-9][a-z0-9-]{0,62})(?:@(?:latest|([1-9]\d{0,8})))?$/.exec(text);
  if (match === null) {
    throw new InvalidInputError("the dataset reference is not valid", [
      { path: "dataset", value: text, rule: "must be NAME, NAME@VERSION or NAME@latest" },
    ]);
  }
  return { name: match[1]!, ...(match[2] === undefined ? {} : { version: Number(match[2]) }) };
}

/**
 * Returns the version that a new run would use.
 *
 * @throws DatasetNotFoundError, DatasetVersionNotFoundError, DatasetVersionDeprecatedError, NoActiveVersionError
 */
export async function resolveDataset(repository: DatasetRepository, reference: string): Promise<DatasetVersion> {
  const { name, version } = parseDatasetReference(reference);
  if (version === undefined) {
    const active = await repository.findActive(name);
    if (active) return active;
    if (await repository.findNewest(name)) throw new NoActiveVersionError(name);
    throw new DatasetNotFoundError(name);
  }
  const found = await getDatasetVersion(repository, name, version);
  if (found.deprecation) throw new DatasetVersionDeprecatedError(name, version, found.deprecation.reason);
  return found;
}

/** Returns a version, deprecated or not. */
export async function getDatasetVersion(
  repository: DatasetRepository,
  name: string,
  version: number,
): Promise<DatasetVersion> {
  const found = await repository.find(name, version);
  if (found) return found;
  const newest = await repository.findNewest(name);
  if (newest) throw new DatasetVersionNotFoundError(name, version, newest.manifest.version);
  throw new DatasetNotFoundError(name);
}
