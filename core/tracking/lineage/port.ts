import type { Page } from "../../datasets/repository";
import type { ContentReference } from "../../ports";

/** Data by what they are: the same for a version registered here and for what a client has logged. */
export interface DatasetKey {
  readonly name: string;
  readonly digest: string;
}

/** A raw file that was made a version, or a shard of one, with the version's rows that it holds. */
export interface DatasetContent extends ContentReference {
  readonly role: "source" | "shard";
  /** Of a source: the file as whoever pushed it named it, or its path in the inbox. */
  readonly file?: string;
  /** Counted over the whole version, from 0. */
  readonly firstRow: number;
  readonly rows: number;
}

export interface DatasetVersionKey extends DatasetKey {
  readonly version: number;
}

/** A version that holds a content. */
export interface ContentUse extends Omit<DatasetContent, keyof ContentReference> {
  readonly dataset: DatasetVersionKey;
}

/** A version of a model whose run read the data. */
export interface ModelUse {
  readonly model: string;
  readonly version: number;
  readonly runId?: string;
}

/**
 * The port to a team's lineage: edges written where a fact arises, each under both of its ends, and never changed. That a run reads a registered version is
 * written with the run, that a version comes of data with the version; both in the same transaction.
 */
export interface LineageIndex {
  /** After the version is registered; sent again it writes the same. */
  noteContents(dataset: DatasetVersionKey, contents: readonly DatasetContent[]): Promise<void>;
  /** Of a run that was logged. */
  noteInputs(runId: string, datasets: readonly DatasetKey[]): Promise<void>;
  usesOf(sha256: string): Promise<readonly ContentUse[]>;
  /** Raw files that made the version; none of one from before files were noted. */
  sourcesOf(dataset: DatasetKey): Promise<readonly DatasetContent[]>;
  runsOf(dataset: DatasetKey, page: { readonly limit: number; readonly nextToken?: string }): Promise<Page<string>>;
  modelsOf(dataset: DatasetKey): Promise<readonly ModelUse[]>;
}
