import { InvalidInputError } from "../errors";
import type { Warning } from "../shapes";
import { datasetNotFound, datasetVersionDeprecated, datasetVersionNotFound, noActiveVersion } from "./errors";
import type { DatasetDraft, DatasetSummary, DatasetVersion, Deprecation } from "./shapes";

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextToken?: string;
}

/**
 * The port to a team's dataset versions. All writes are idempotent. Only warnings and deprecation of a version can
 * change.
 */
export interface DatasetRepository {
  /**
   * Creates the next version of `draft.name`, or returns the version that has the same digest. Concurrent registrations
   * of the same content create one version; different contents get consecutive numbers. A draft with a parent is only
   * registered as the version after its parent.
   *
   * @throws DATASET_BUSY if other writers succeed before each attempt; DATASET_CHANGED
   */
  register(
    draft: DatasetDraft,
    context: { readonly at: string; readonly by?: string },
  ): Promise<{ readonly created: boolean; readonly version: DatasetVersion }>;
  find(name: string, version: number): Promise<DatasetVersion | undefined>;
  findByDigest(name: string, digest: string): Promise<DatasetVersion | undefined>;
  /** Returns the newest version, deprecated or not. */
  findNewest(name: string): Promise<DatasetVersion | undefined>;
  /** Returns the newest version that is not deprecated. */
  findActive(name: string): Promise<DatasetVersion | undefined>;
  /** Lists versions, newest first. */
  listVersions(query: {
    readonly name: string;
    readonly limit: number;
    readonly nextToken?: string;
  }): Promise<Page<DatasetVersion>>;
  /** Lists datasets by name. */
  list(query: { readonly limit: number; readonly nextToken?: string }): Promise<Page<DatasetSummary>>;
  /** Replaces the warnings of a version. Does nothing if there is no such version. */
  recordWarnings(name: string, version: number, warnings: readonly Warning[]): Promise<void>;
  /** Returns false if there is no such version. The first deprecation stays. */
  deprecate(name: string, version: number, deprecation: Deprecation): Promise<boolean>;
}

/** `name`, `name@3` or `name@latest`. */
interface DatasetReference {
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
 * @throws DATASET_NOT_FOUND, DATASET_VERSION_NOT_FOUND, DATASET_VERSION_DEPRECATED, DATASET_WITHOUT_ACTIVE_VERSION
 */
export async function resolveDataset(repository: DatasetRepository, reference: string): Promise<DatasetVersion> {
  const { name, version } = parseDatasetReference(reference);
  if (version === undefined) {
    const active = await repository.findActive(name);
    if (active) return active;
    if (await repository.findNewest(name)) throw noActiveVersion(name);
    throw datasetNotFound(name);
  }
  const datasetVersion = await getDatasetVersion(repository, name, version);
  if (datasetVersion.deprecation) throw datasetVersionDeprecated(name, version, datasetVersion.deprecation.reason);
  return datasetVersion;
}

export async function getDatasetVersion(
  repository: DatasetRepository,
  name: string,
  version: number,
): Promise<DatasetVersion> {
  const datasetVersion = await repository.find(name, version);
  if (datasetVersion) return datasetVersion;
  const newest = await repository.findNewest(name);
  if (newest) throw datasetVersionNotFound(name, version, newest.manifest.version);
  throw datasetNotFound(name);
}
