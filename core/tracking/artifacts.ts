import type { ContentReference } from "../ports";
import type { ArtifactEntry } from "./shapes";

export type { ArtifactEntry } from "./shapes";

/** What an artifact belongs to: a run, a logged model, or nothing but the team: what clients put where they like. */
export type ArtifactOwner =
  | { readonly kind: "run"; readonly runId: string }
  | { readonly kind: "logged-model"; readonly modelId: string }
  | { readonly kind: "team" };

/** A name and the content that it stands for. */
export interface ArtifactFile extends ContentReference {
  /** Relative, of normal form: no `..`, no empty part, no leading slash; at most 1,000 bytes as UTF-8. */
  readonly path: string;
}

/** A named file of a run: the name is the run's, the content the team's, kept once. */
export interface Artifact extends ArtifactFile {
  readonly contentType?: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

/**
 * The port to a team's artifacts. Content goes through the object store; this names it. Every client's change goes through `put` and `remove`, which refuse
 * protected paths: those of a deleted run, those that the platform makes for a training run, and those that were frozen. The check and the change are one
 * transaction.
 */
export interface Artifacts {
  /**
   * Names files for a client. The last put under a path stands. Idempotent. The content must be in the store.
   *
   * @param folder of a run or a logged model: where the team's tree shows its files, as `3/<run>/artifacts`
   * @throws ArtifactReservedError, ArtifactFrozenError, RunDeletedError
   */
  put(owner: ArtifactOwner, artifacts: readonly Artifact[], folder?: string): Promise<void>;
  /** Names files that the platform itself made for a training run, under `producedDirectories`. @throws Error for other paths */
  putProduced(runId: string, artifacts: readonly Artifact[], folder?: string): Promise<void>;
  /** Refuses what `put` of the path would refuse: for callers that receive the content first. */
  checkWritable(owner: ArtifactOwner, path: string): Promise<void>;
  /** From here on, nothing at the path or under it (`""`: all of the owner's files) is put or removed. Permanent and idempotent. */
  freeze(owner: ArtifactOwner, path: string): Promise<void>;
  find(owner: ArtifactOwner, path: string): Promise<Artifact | undefined>;
  /** What lies directly under a path (`""`: at the top), directories made of their files' names, by name. Of the team's the folders that lead to runs and models, too. */
  list(owner: ArtifactOwner, path: string): Promise<readonly ArtifactEntry[]>;
  /** Every file under a path, by path. */
  listAll(owner: ArtifactOwner, path: string): Promise<readonly Artifact[]>;
  /**
   * Removes a file, or all that lies under a directory: of the team's what runs and models have there, too. Content is kept: other names may need it. Where
   * one of the files is protected, nothing is removed.
   *
   * @throws ArtifactReservedError, ArtifactFrozenError, RunDeletedError
   */
  remove(owner: ArtifactOwner, path: string): Promise<void>;
}
