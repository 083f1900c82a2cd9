import type { Page } from "../datasets/repository";
import type { ContentReference } from "../shapes";
import type { RunRecords } from "../tracking/run-records";

/** The identity of data: the same for a version registered here and for data that a client has logged. */
export interface DatasetKey {
  readonly name: string;
  readonly digest: string;
}

/** A raw file from which a version was made, or a shard of one, with the version's rows that it holds. */
export interface DatasetContent extends ContentReference {
  readonly role: "source" | "shard";
  /** Name of a source file as the client gave it, or its path in the inbox. */
  readonly file?: string;
  /** Command or script that made a source file, as the client describes it. */
  readonly transform?: string | undefined;
  /** Counted over the whole version, from 0. */
  readonly firstRow: number;
  readonly rows: number;
}

export interface DatasetVersionKey extends DatasetKey {
  readonly version: number;
}

export interface ContentUse extends Omit<DatasetContent, keyof ContentReference> {
  readonly dataset: DatasetVersionKey;
}

export interface ViewDataset {
  readonly view: number;
  readonly dataset: DatasetVersionKey;
}

export interface ModelUse {
  readonly model: string;
  readonly version: number;
  readonly runId?: string;
}

/**
 * The port to a team's lineage. An edge is written when its fact arises, under both of its ends, and never changes. The
 * edge from a run to a registered version is written with the run, and the edge from a version to its data with the
 * version, each in the same transaction.
 */
export interface LineageIndex {
  /** Called after the version is registered. Idempotent. */
  noteContents(dataset: DatasetVersionKey, contents: readonly DatasetContent[]): Promise<void>;
  /** Records the feature views of a version's columns, each as `view@version`. Idempotent. */
  noteViews(dataset: DatasetVersionKey, views: readonly string[]): Promise<void>;
  noteInputs(runId: string, datasets: readonly DatasetKey[]): Promise<void>;
  usesOf(sha256: string): Promise<readonly ContentUse[]>;
  /** Lists dataset versions with columns of a view, by the version of the view. */
  datasetsOfView(
    view: string,
    page: { readonly limit: number; readonly nextToken?: string | undefined },
  ): Promise<Page<ViewDataset>>;
  sourcesOf(dataset: DatasetKey): Promise<readonly DatasetContent[]>;
  runsOf(dataset: DatasetKey, page: { readonly limit: number; readonly nextToken?: string }): Promise<Page<string>>;
  modelsOf(dataset: DatasetKey): Promise<readonly ModelUse[]>;
}

/** Records lineage from the data's side too, after the record. A writer that died is repaired by the next change. */
export function recordLineage(records: RunRecords, lineage: Pick<LineageIndex, "noteInputs">): RunRecords {
  return {
    ...records,
    async create(record, options) {
      const createdRun = await records.create(record, options);
      await lineage.noteInputs(createdRun.record.runId, createdRun.record.datasets);
      return createdRun;
    },
    async change(runId, transition) {
      const record = await records.change(runId, transition);
      // A training run's own data were recorded with the run.
      await lineage.noteInputs(runId, record.datasets.slice(record.source === "training" ? 1 : 0));
      return record;
    },
  };
}
