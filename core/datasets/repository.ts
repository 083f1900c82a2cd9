import type { Warning } from "../warnings";
import type { DatasetDraft } from "./identity";
import type { DatasetSummary, DatasetVersion, Deprecation } from "./shapes";

export type { DatasetSummary, DatasetVersion, Deprecation } from "./shapes";

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Opaque; absent on the last page. */
  readonly nextToken?: string;
}

/** The port to a team's dataset versions. Every write may be repeated; versions never change but for their warnings and deprecation. */
export interface DatasetRepository {
  /**
   * The next version of `draft.name`, or the version that has the same digest. Registering the same content from many places at once makes
   * one version; different contents get consecutive numbers.
   *
   * @throws DatasetBusyError when others win every attempt.
   */
  register(
    draft: DatasetDraft,
    context: { readonly at: string; readonly by?: string },
  ): Promise<{ readonly created: boolean; readonly version: DatasetVersion }>;
  find(name: string, version: number): Promise<DatasetVersion | undefined>;
  findByDigest(name: string, digest: string): Promise<DatasetVersion | undefined>;
  /** Newest version, deprecated or not. */
  findNewest(name: string): Promise<DatasetVersion | undefined>;
  /** Newest version that is not deprecated. */
  findActive(name: string): Promise<DatasetVersion | undefined>;
  /** Newest first. */
  listVersions(query: {
    readonly name: string;
    readonly limit: number;
    readonly nextToken?: string;
  }): Promise<Page<DatasetVersion>>;
  /** By name. */
  list(query: { readonly limit: number; readonly nextToken?: string }): Promise<Page<DatasetSummary>>;
  /** Replaces the warnings of a version. Nothing where there is no such version. */
  recordWarnings(name: string, version: number, warnings: readonly Warning[]): Promise<void>;
  /** False where there is no such version. The first deprecation stands. */
  deprecate(name: string, version: number, deprecation: Deprecation): Promise<boolean>;
}
