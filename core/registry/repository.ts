import type { ModelChange } from "./change";
import type { HistoryEntry, Model, ModelVersion } from "./model";
import type { ModelPolicy } from "./policy";
import type { Rename } from "./rename";

/** What makes a change once. */
export interface Once {
  /** A run makes one version. */
  readonly runId?: string;
  readonly request?: string;
}

/** The port to a team's registry; docs/access-patterns.md, "Models". Deleted models and versions are among what it finds. */
export interface ModelRepository {
  find(name: string): Promise<Model | undefined>;
  findVersion(name: string, version: number): Promise<ModelVersion | undefined>;
  /** The version that a run made, if it made one. */
  findVersionOfRun(name: string, runId: string): Promise<number | undefined>;
  /** The version that has a semver, if one has: once there is one it stays. */
  findSemver(name: string, semver: string): Promise<number | undefined>;
  /** The revision that a request made, if it made one. */
  findRequest(name: string, request: string): Promise<number | undefined>;
  findHistory(name: string, revision: number): Promise<HistoryEntry | undefined>;
  list(): Promise<readonly Model[]>;
  /** Newest first. */
  listVersions(name: string): Promise<readonly ModelVersion[]>;
  /** Oldest first. */
  history(name: string): Promise<readonly HistoryEntry[]>;
  /** Those of revisions `from` to `until`, oldest first. */
  historyBetween(name: string, from: number, until: number): Promise<readonly HistoryEntry[]>;
  /** What is left to tell of a revision; nothing where it was told. */
  findEvent(name: string, revision: number): Promise<HistoryEntry | undefined>;
  removeEvent(name: string, revision: number): Promise<void>;
  /** The policies that the model has had, oldest first. */
  policies(name: string): Promise<readonly ModelPolicy[]>;
  /**
   * Writes the whole change, with an event that is left to tell of it, or nothing: false where the model's revision is no longer `change.model.revision - 1`, or where `once` names a run
   * that has made a version already, or a request that has made a change, or the semver was taken.
   */
  commit(change: ModelChange, once?: Once): Promise<boolean>;
  /** Writes both names' changes, with all rows that move, or nothing: false where either's revision is no longer the one that it was decided upon. */
  commitRename(rename: Rename): Promise<boolean>;
}
