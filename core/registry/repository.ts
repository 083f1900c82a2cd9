import type { HistoryEntry, Model, ModelVersion } from "./model";
import type { ModelChange } from "./transitions";

/** The port to a team's registry; docs/access-patterns.md, "Models". */
export interface ModelRepository {
  find(name: string): Promise<Model | undefined>;
  findVersion(name: string, version: number): Promise<ModelVersion | undefined>;
  /** The version that a run made, if it made one. */
  findVersionOfRun(name: string, runId: string): Promise<number | undefined>;
  /** The revision that a request made, if it made one. */
  findRequest(name: string, request: string): Promise<number | undefined>;
  list(): Promise<readonly Model[]>;
  /** Newest first. */
  listVersions(name: string): Promise<readonly ModelVersion[]>;
  /** Oldest first. */
  history(name: string): Promise<readonly HistoryEntry[]>;
  /**
   * Writes the whole change or nothing: false where the model's revision is no longer `change.model.revision - 1`, or where `once` names a run
   * that has made a version already, or a request that has made a change.
   */
  commit(change: ModelChange, once?: { readonly runId?: string; readonly request?: string }): Promise<boolean>;
}
