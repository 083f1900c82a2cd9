import type { ValidationOutput } from "../../datasets/validation";
import { InvalidInputError } from "../../errors";
import type { EvaluationOutput } from "../../evaluation/shapes";
import type { Phase } from "../../runs/run-states";
import type { StepRecord } from "../../runs/shapes";
import type { TrainingOutput } from "../../runs/training-task";
import type { ContentReference } from "../../shapes";
import type { Artifact, ArtifactOwner } from "../artifacts";
import { artifactPathRule, type RunIdentity, type RunRecord } from "../shapes";
import { artifactFrozen, artifactReserved } from "./errors";
import { assertActive } from "./transitions";

/**
 * Returns a file's path. A path is never corrected, so that no two texts name the same file.
 *
 * @throws InvalidInputError if it is not in normal form
 */
export function artifactPath(path: string): string {
  const rule = artifactPathRule(path);
  if (rule !== undefined) throw new InvalidInputError("the artifact's path", [{ path: "path", value: path, rule }]);
  return path;
}

/**
 * Returns a directory's path, or `""` for the top.
 *
 * @throws InvalidInputError
 */
export function directoryPath(path: string): string {
  return path === "" ? "" : artifactPath(path);
}

/** Returns the place of a run's files in the team's tree, unless its experiment has another location. */
export function folderOf({ experimentId, runId }: Pick<RunIdentity, "experimentId" | "runId">): string {
  return `${experimentId}/${runId}/artifacts`;
}

/** Returns the lower bound of paths in a directory, inclusive. */
export function lowestPathIn(directory: string): string {
  return `${directory}/`;
}

/** Returns the upper bound of paths in a directory, exclusive: `0` follows `/` in the order of bytes. */
export function lowestPathPast(directory: string): string {
  return `${directory}0`;
}

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
 * @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED
 */
export function checkUnprotected({ owner, run, frozen }: Protection, paths: readonly string[]): void {
  if (run) assertActive(run);
  const reserved = run?.source === "training" ? producedDirectories : [];
  for (const path of paths) {
    const produced = reserved.find((directory) => isAtOrUnder(path, directory));
    if (run && produced !== undefined) throw artifactReserved(run.runId, path, produced);
    const evaluated = frozen.find((directory) => isAtOrUnder(path, directory));
    if (evaluated !== undefined) throw artifactFrozen(ownerName(owner), path, evaluated);
  }
}

/** Tests whether a path is the directory or lies in it. All paths lie in `""`. */
export function isAtOrUnder(path: string, directory: string): boolean {
  return directory === "" || path === directory || path.startsWith(`${directory}/`);
}

/** Names the owner in a message. */
export function ownerName(owner: ArtifactOwner): string {
  if (owner.kind === "run") return `run ${owner.runId}`;
  return owner.kind === "logged-model" ? `logged model ${owner.modelId}` : "the team";
}

/** Directory of the files that training itself writes. */
const producedDirectory = "training";

/** Directory of a training run's model, by which clients of MLflow name it: `runs:/RUN/model`. */
export const modelDirectory = "model";

/**
 * Directories of a training run that only the platform writes: the output of training, exports of its model, and the
 * model, of which clients read an export.
 */
export const producedDirectories: readonly string[] = [producedDirectory, "exports", modelDirectory];

/**
 * Refuses logged models that clients of MLflow would read in place of a training run's model.
 *
 * @param names the names of logged models of the run
 * @throws ARTIFACT_RESERVED
 */
export function checkModelNames(
  run: Pick<RunIdentity, "runId" | "source"> | undefined,
  names: readonly string[],
): void {
  if (run?.source === "training" && names.includes(modelDirectory))
    throw artifactReserved(run.runId, modelDirectory, modelDirectory);
}

/** Returns the files of a finished step of a training run. Their names are the same in every run. */
export function producedArtifacts({ step, output, finishedAt }: StepRecord): readonly Artifact[] {
  return contentsOf(step, output).flatMap(([path, content, contentType]) => {
    if (content === undefined) return [];
    const { sha256, bytes } = content;
    return [{ path: `${producedDirectory}/${path}`, sha256, bytes, contentType, updatedAt: finishedAt }];
  });
}

type Named = readonly [path: string, content: ContentReference | undefined, contentType: string];

function contentsOf(step: Phase, output: unknown): readonly Named[] {
  if (step === "ValidateDataset") {
    const { profile, contract } = output as Partial<ValidationOutput>;
    return [
      ["data/profile.json", profile, "application/json"],
      ["data/contract.json", contract?.report, "application/json"],
    ];
  }
  if (step === "LaunchTraining") {
    const { weights, topology } = output as Partial<TrainingOutput>;
    return [
      ["model/weights.safetensors", weights, "application/octet-stream"],
      ["model/topology.json", topology, "application/json"],
    ];
  }
  if (step === "Evaluate") {
    return [["evaluation/report.json", (output as Partial<EvaluationOutput>).report, "application/json"]];
  }
  return [];
}
