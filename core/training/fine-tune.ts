import { mapLimited } from "../each-limited";
import { InvalidInputError, RingmasterError } from "../errors";
import type { ObjectStore } from "../ports";
import { readArtifact } from "../registry/artifact";
import { isVisible } from "../registry/change";
import type { ModelRepository } from "../registry/repository";
import { readModelUri } from "../registry/source";
import type { FineTune, FineTuneSource } from "../runs/fine-tune";
import type { RunRepository } from "../runs/run-repository";
import { findOutput } from "../runs/step";
import type { TrainingOutput } from "../runs/training-task";
import type { ContentReference } from "../shapes";
import { checkpointStart } from "./checkpoint/start";

const checksAtOnce = 8;

export interface FineTuneDependencies {
  readonly objects: ObjectStore;
  readonly runs: Pick<RunRepository, "findDetails">;
  readonly registry?: { readonly repository: Pick<ModelRepository, "find" | "findVersion"> };
}

type Found = Omit<FineTuneSource, "parts"> & {
  readonly objects: readonly (ContentReference & { readonly key?: string })[];
};

/**
 * Finds the weights with which a run begins. An alias may move and a checkpoint may expire later; the result refers to
 * the weights by content.
 *
 * @throws InvalidInputError if there are no such weights
 * @throws CheckpointDamagedError, CorruptObjectError
 */
export async function fineTuneSourceOf(
  dependencies: FineTuneDependencies,
  { from }: Pick<FineTune, "from">,
): Promise<FineTuneSource> {
  const { objects, ...found } = from.startsWith("models:")
    ? await weightsOfVersion(dependencies, from)
    : await weightsOfRun(dependencies, from);
  const contents = await mapLimited(objects, checksAtOnce, (each) => asContent(dependencies.objects, each));
  const missing = objects.filter((_, i) => contents[i] === undefined).map(({ sha256 }) => sha256);
  if (missing.length > 0) throw refused(from, `its weights are damaged or missing in the store: ${missing.join(", ")}`);
  const parts = await dependencies.objects.putContent(JSON.stringify(contents), "application/json");
  return { ...found, parts };
}

/**
 * Returns content that is stored under its name; `undefined` if it is damaged or missing. The tensors of a checkpoint
 * are copied, because the run's trainers may delete them.
 */
async function asContent(
  objects: ObjectStore,
  { key, sha256, bytes }: Found["objects"][number],
): Promise<ContentReference | undefined> {
  const content = { sha256, bytes };
  const found = (await objects.hasContent(content, "by-checksum")) && (await objects.claimContent(sha256));
  if (typeof found === "number") return content;
  return key !== undefined && (await objects.copyContent(content, key)) ? content : undefined;
}

async function weightsOfVersion({ objects, registry }: FineTuneDependencies, from: string): Promise<Found> {
  const uri = readModelUri(from);
  if (uri === undefined || "modelId" in uri || uri.stage !== undefined)
    throw refused(from, "must be models:/NAME@ALIAS, models:/NAME/VERSION or models:/NAME/latest");
  const { name, alias } = uri;
  const model = await registry?.repository.find(name);
  if (model?.lifecycle !== "active")
    throw refused(from, `there is no model ${name}; list them with: ringmaster models list`);
  const number =
    alias !== undefined ? model.aliases[alias] : uri.version === undefined ? model.latestVersion : Number(uri.version);
  if (number === undefined) {
    const known = Object.keys(model.aliases).join(", ") || "none";
    throw refused(from, `model ${name} has no alias ${alias}; its aliases: ${known}`);
  }
  const version = await registry?.repository.findVersion(name, number);
  if (!version || !isVisible(model, version)) throw refused(from, `model ${name} has no version ${number}`);
  const artifact = await readArtifact(objects, version);
  if (artifact === undefined) {
    const rule = `version ${number} of ${name} was trained elsewhere, so the platform does not have its weights`;
    throw refused(from, `${rule}; name a version that a run of the platform made`);
  }
  const { weights, weightsSha256, runId } = artifact;
  return { model: name, version: number, runId, weightsSha256, objects: [weights] };
}

async function weightsOfRun({ objects, runs }: FineTuneDependencies, from: string): Promise<Found> {
  const [runId = "", epoch] = from.split("@");
  const details = await runs.findDetails(runId);
  if (!details) throw refused(from, `there is no training run ${runId}; list them with: ringmaster runs list`);
  if (epoch !== undefined) {
    const { manifest } = await checkpointStart(objects, runId, Number(epoch)).catch((error: unknown) => {
      if (error instanceof RingmasterError && error.httpStatus === 404) throw refused(from, error.message, error);
      throw error;
    });
    const parts = manifest.tensors.filter(({ buffer }) => buffer === "weights");
    return {
      runId,
      epoch: manifest.epoch,
      weightsSha256: manifest.weightsSha256,
      objects: parts,
    };
  }
  const training = findOutput<TrainingOutput>(details, "LaunchTraining");
  if (!training) {
    const rule = `run ${runId} has not finished its training (it is ${details.run.status})`;
    throw refused(from, `${rule}; wait for it, or name one of its checkpoints: ${runId}@EPOCH`);
  }
  return { runId, weightsSha256: training.weightsSha256, objects: [training.weights] };
}

function refused(from: string, rule: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError("the run cannot be fine-tuned", [{ path: "fineTune.from", value: from, rule }], cause);
}
