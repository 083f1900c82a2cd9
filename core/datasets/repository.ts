import type { Warning } from "../shapes";
import type { DatasetDraft, DatasetSummary, DatasetVersion, Deprecation } from "./shapes";

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Opaque; absent on the last page. */
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
   * @throws DatasetBusyError if other writers succeed before each attempt; DatasetChangedError
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
