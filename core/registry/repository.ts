import type { ModelChange } from "./change";
import type { HistoryEntry, Model, ModelVersion } from "./model";
import type { ModelPolicy } from "./policy";
import type { Rename } from "./rename";

/** The keys that make a change idempotent. */
export interface Once {
  /** A run registers one version. */
  readonly runId?: string;
  readonly request?: string;
}

export interface ModelRepository {
  find(name: string): Promise<Model | undefined>;
  findVersion(name: string, version: number): Promise<ModelVersion | undefined>;
  findVersionOfRun(name: string, runId: string): Promise<number | undefined>;
  /** Returns the version that has a semver, if any. A semver never moves. */
  findSemver(name: string, semver: string): Promise<number | undefined>;
  findRequest(name: string, request: string): Promise<number | undefined>;
  findHistory(name: string, revision: number): Promise<HistoryEntry | undefined>;
  list(): Promise<readonly Model[]>;
  /** Lists versions, newest first. */
  listVersions(name: string): Promise<readonly ModelVersion[]>;
  /** Lists history entries, oldest first. */
  history(name: string): Promise<readonly HistoryEntry[]>;
  /** Lists the entries of revisions `from` to `until`, oldest first. */
  historyBetween(name: string, from: number, until: number): Promise<readonly HistoryEntry[]>;
  /** Returns a revision's event if it is not published yet. */
  findEvent(name: string, revision: number): Promise<HistoryEntry | undefined>;
  removeEvent(name: string, revision: number): Promise<void>;
  /** Lists the policies that the model has had, oldest first. */
  policies(name: string): Promise<readonly ModelPolicy[]>;
  /**
   * Writes the whole change, with its unpublished event, or nothing. Returns false if the model's revision is no longer
   * `change.model.revision - 1`, if the run or request in `once` has already made a change, or if the semver was taken.
   */
  commit(change: ModelChange, once?: Once): Promise<boolean>;
  /** Writes both names' changes with all rows that move, or nothing. Returns false if a revision has changed since. */
  commitRename(rename: Rename): Promise<boolean>;
}
