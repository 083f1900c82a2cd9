import type { ValidationOutput } from "../datasets/contract/report";
import { InvalidInputError } from "../errors";
import type { EvaluationOutput } from "../evaluation/shapes";
import type { Phase } from "../runs/run-states";
import type { StepRecord } from "../runs/shapes";
import type { TrainingOutput } from "../runs/training-task";
import type { ContentReference } from "../shapes";
import { artifactFrozen, artifactReserved } from "./records/errors";
import { assertActive } from "./records/transitions";
import { type ArtifactEntry, artifactPathRule, type RunIdentity, type RunRecord } from "./shapes";

/** The owner of an artifact: a run, a logged model, or the team for files that clients put anywhere else. */
export type ArtifactOwner =
  | { readonly kind: "run"; readonly runId: string }
  | { readonly kind: "logged-model"; readonly modelId: string }
  | { readonly kind: "team" };

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
   * @param folder path of a run or logged model at which the team's tree shows its files, e.g. `3/<run>/artifacts`
   * @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED
   */
  put(owner: ArtifactOwner, artifacts: readonly Artifact[], folder?: string): Promise<void>;
  /** Names files that the platform wrote, under `producedDirectories`. @throws Error for other paths */
  putProduced(runId: string, artifacts: readonly Artifact[], folder?: string): Promise<void>;
  /** Checks whether `put` would refuse the path, for callers that receive the content first. */
  checkWritable(owner: ArtifactOwner, path: string): Promise<void>;
  /** Protects everything at or under the path (`""`: all) from `put` and `remove`. Permanent and idempotent. */
  freeze(owner: ArtifactOwner, path: string): Promise<void>;
  find(owner: ArtifactOwner, path: string): Promise<Artifact | undefined>;
  /** Lists a path's direct children (`""`: the top) by name; for the team also folders that lead to runs and models. */
  list(owner: ArtifactOwner, path: string): Promise<readonly ArtifactEntry[]>;
  listAll(owner: ArtifactOwner, path: string): Promise<readonly Artifact[]>;
  /**
   * Removes a file or everything under a directory; for the team this includes files of runs and models. The content is
   * kept, because other names may refer to it. If one of the files is protected, nothing is removed.
   * @throws ARTIFACT_RESERVED, ARTIFACT_FROZEN, RUN_DELETED
   */
  remove(owner: ArtifactOwner, path: string): Promise<void>;
}

/** A path is never corrected, so no two texts name one file. @throws InvalidInputError if not in normal form */
export function artifactPath(path: string): string {
  const rule = artifactPathRule(path);
  if (rule !== undefined) throw new InvalidInputError("the artifact's path", [{ path: "path", value: path, rule }]);
  return path;
}

/** Returns a directory's path, or `""` for the top. @throws InvalidInputError */
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

export function ownerName(owner: ArtifactOwner): string {
  if (owner.kind === "run") return `run ${owner.runId}`;
  return owner.kind === "logged-model" ? `logged model ${owner.modelId}` : "the team";
}

const producedDirectory = "training";

/** Directory of a training run's model, by which clients of MLflow name it: `runs:/RUN/model`. */
export const modelDirectory = "model";

/** Directories of a training run that only the platform writes: training's output, exports, the model. */
export const producedDirectories: readonly string[] = [producedDirectory, "exports", modelDirectory];

/**
 * Refuses logged models that clients of MLflow would read in place of a training run's model.
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

/** The place of a file or directory of the team's artifact tree. */
export interface StoredPlace {
  readonly owner: ArtifactOwner;
  /** Relative to the owner's root; `""` for the root itself. */
  readonly path: string;
  /** The path of a run's or a logged model's root in the team's tree. */
  readonly folder?: string;
}

/** Number of times that MLflow's server decodes a path. */
const maxDecodings = 10;

/**
 * Converts a client's path under the artifact root to its normal form. As in MLflow's server (`validate_path_is_safe`),
 * the path is percent-decoded until nothing changes. A path that is absolute, leaves the root, or has a fragment is
 * refused.
 * @returns the normal path, `""` for the root; or the rule that the path breaks, `""` if there is no explanation
 */
export function normalPath(path: string): { readonly path: string } | { readonly rule: string } {
  const unescaped = decode(path);
  if (unescaped === undefined) return { rule: "" };
  const decoded = escapeControlCharacters(unescaped);
  if (
    decoded.includes("#") ||
    decoded.startsWith("/") ||
    /^[a-z]:[\\/]/i.test(decoded) ||
    decoded.startsWith("\\\\") ||
    /^file:/i.test(decoded) ||
    decoded.split("/").includes("..")
  ) {
    return { rule: "" };
  }
  const normal = decoded
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
  const rule = normal === "" ? undefined : artifactPathRule(normal);
  return rule === undefined ? { path: normal } : { rule: `${JSON.stringify(normal.slice(0, 200))} ${rule}` };
}

/**
 * Finds the owner of a path. Files under `…/<run>/artifacts` belong to the run, wherever its experiment is located.
 * Files under `…/models/<model>/artifacts` belong to the logged model. Other files belong to the team.
 * @param path in normal form
 */
export async function storedPlace(
  identify: (runId: string) => Promise<RunIdentity | undefined>,
  path: string,
): Promise<StoredPlace> {
  const parts = path.split("/");
  for (let at = parts.indexOf("artifacts", 1); at > 0; at = parts.indexOf("artifacts", at + 1)) {
    const id = parts[at - 1]!;
    const place = { path: parts.slice(at + 1).join("/"), folder: parts.slice(0, at + 1).join("/") };
    if (isModelId(id) && parts[at - 2] === "models") return { owner: { kind: "logged-model", modelId: id }, ...place };
    if (isRunId(id) && (await identify(id))) return { owner: { kind: "run", runId: id }, ...place };
  }
  return { owner: { kind: "team" }, path };
}

export const artifactScheme = "mlflow-artifacts:";

/** Returns the path that a URI of the artifact tree names, not yet in normal form. */
export function pathOfArtifactUri(uri: string): string {
  return uri
    .slice(artifactScheme.length)
    .replace(/^\/\/[^/]*/, "")
    .replace(/^\/+/, "");
}

function decode(path: string): string | undefined {
  let current = path;
  for (let i = 0; i < maxDecodings; i += 1) {
    const decoded = unquoted(current);
    if (decoded === current) return current;
    current = decoded;
  }
  return undefined;
}

/** Decodes percent sequences once. Others stay, as in Python's `unquote`; bytes that are not UTF-8 become U+FFFD. */
export function unquoted(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8"));
}

function escapeControlCharacters(path: string): string {
  return path.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    /[\u0000-\u001f\u007f]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
}

function isModelId(id: string): boolean {
  return /^m-[0-9a-f]{32}$/.test(id);
}

/** Avoids a read for names that cannot be a run's id. */
function isRunId(id: string): boolean {
  return /^[a-zA-Z0-9][\w-]{0,255}$/.test(id);
}
