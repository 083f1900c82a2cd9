import type { ContentReference } from "../shapes";
import type { ArtifactEntry } from "./shapes";

/** The owner of an artifact: a run, a logged model, or the team for files that clients put anywhere else. */
export type ArtifactOwner =
  | { readonly kind: "run"; readonly runId: string }
  | { readonly kind: "logged-model"; readonly modelId: string }
  | { readonly kind: "team" };

/** A named content. */
export interface ArtifactFile extends ContentReference {
  /** Relative and normalised: no `..`, no empty part, no leading slash; at most 1,000 bytes as UTF-8. */
  readonly path: string;
}

/** A named file of a run. The name belongs to the run; the content belongs to the team and is stored once. */
export interface Artifact extends ArtifactFile {
  readonly contentType?: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/**
 * The port to the names of a team's artifacts; the object store holds their content. Clients' changes go through `put`
 * and `remove`, which refuse protected paths: those of a deleted run, those that the platform writes for a training
 * run, and frozen ones. The check and the change are one transaction.
 */
export interface Artifacts {
  /**
   * Names files for a client. The last put under a path stays. Idempotent. The content must be in the store.
   *
   * @param folder path of a run or logged model at which the team's tree shows its files, e.g. `3/<run>/artifacts`
   * @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED
   */
  put(owner: ArtifactOwner, artifacts: readonly Artifact[], folder?: string): Promise<void>;
  /**
   * Names files that the platform wrote for a training run, under `producedDirectories`.
   *
   * @throws Error for other paths
   */
  putProduced(runId: string, artifacts: readonly Artifact[], folder?: string): Promise<void>;
  /** Checks whether `put` would refuse the path, for callers that receive the content first. */
  checkWritable(owner: ArtifactOwner, path: string): Promise<void>;
  /**
   * Protects the path and everything under it (`""`: all of the owner's files) from `put` and `remove`. Permanent and
   * idempotent.
   */
  freeze(owner: ArtifactOwner, path: string): Promise<void>;
  find(owner: ArtifactOwner, path: string): Promise<Artifact | undefined>;
  /**
   * Lists the direct children of a path (`""`: the top) by name. Directories follow from the files' names. For the team
   * the list includes the folders that lead to runs and models.
   */
  list(owner: ArtifactOwner, path: string): Promise<readonly ArtifactEntry[]>;
  /** Lists every file under a path, by path. */
  listAll(owner: ArtifactOwner, path: string): Promise<readonly Artifact[]>;
  /**
   * Removes a file or everything under a directory; for the team this includes files of runs and models. The content is
   * kept, because other names may refer to it. If one of the files is protected, nothing is removed.
   *
   * @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED
   */
  remove(owner: ArtifactOwner, path: string): Promise<void>;
}
