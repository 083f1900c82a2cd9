import type { ArtifactOwner } from "../artifacts";
import type { RunRecord } from "../run-record";
import { ArtifactFrozenError, ArtifactReservedError } from "./errors";
import { producedDirectories } from "./produced";
import { assertActive } from "./transitions";

/** The rules that protect an owner's artifacts against changes. */
export interface Protection {
  readonly owner: ArtifactOwner;
  /** The record of the run that owns the files; `undefined` for other owners and for a run without a record. */
  readonly run?: RunRecord;
  /** Paths whose files belong to evaluated versions; `""` for all files of the owner. */
  readonly frozen: readonly string[];
}

/**
 * Refuses to change a protected path. A directory is protected if it is under a protected path; its content is checked
 * file by file.
 *
 * @throws ArtifactReservedError, ArtifactFrozenError, RunDeletedError
 */
export function checkUnprotected({ owner, run, frozen }: Protection, paths: readonly string[]): void {
  if (run) assertActive(run);
  const reserved = run?.source === "training" ? producedDirectories : [];
  for (const path of paths) {
    const produced = reserved.find((directory) => isAtOrUnder(path, directory));
    if (run && produced !== undefined) throw new ArtifactReservedError(run.runId, path, produced);
    const evaluated = frozen.find((directory) => isAtOrUnder(path, directory));
    if (evaluated !== undefined) throw new ArtifactFrozenError(ownerName(owner), path, evaluated);
  }
}

/** Tests whether a path is the directory or lies in it. All paths lie in `""`. */
export function isAtOrUnder(path: string, directory: string): boolean {
  return directory === "" || path === directory || path.startsWith(`${directory}/`);
}

export function ownerName(owner: ArtifactOwner): string {
  if (owner.kind === "run") return `run ${owner.runId}`;
  return owner.kind === "logged-model" ? `logged model ${owner.modelId}` : "the team";
}
