import { eachLimited, mapLimited } from "../each-limited";
import { InvalidInputError, RingmasterError } from "../errors";
import { containerReason } from "../evaluation/container-model";
import { objectKeys, ownerOfTensors } from "../object-keys";
import type { ObjectStore } from "../ports";
import { readArtifact } from "../registry/artifact";
import { isVisible } from "../registry/change";
import type { ModelRepository } from "../registry/repository";
import { readModelUri } from "../registry/source";
import { CheckpointDamagedError, checkpointNotFound } from "../runs/errors";
import type { FineTune, FineTuneSource } from "../runs/fine-tune";
import type { RunRepository } from "../runs/run-repository";
import { findOutput } from "../runs/step";
import { trainingKind } from "../runs/training-task";
import type { ContentReference } from "../shapes";
import {
  type CheckpointManifest,
  checkpointOfEpoch,
  findCheckpointManifest,
  readCheckpoints,
} from "./checkpoint/manifest";

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
 * @throws InvalidInputError if there are no such weights
 * @throws CheckpointDamagedError, CorruptObjectError
 */
export async function fineTuneSourceOf(
  dependencies: FineTuneDependencies,
  { from }: Pick<FineTune, "from">,
): Promise<FineTuneSource> {
  const { objects, ...origin } = from.startsWith("models:")
    ? await weightsOfVersion(dependencies, from)
    : await weightsOfRun(dependencies, from);
  const contents = await mapLimited(objects, checksAtOnce, (each) => asContent(dependencies.objects, each));
  const missing = objects.filter((_, i) => contents[i] === undefined).map(({ sha256 }) => sha256);
  if (missing.length > 0) throw refused(from, `its weights are damaged or missing in the store: ${missing.join(", ")}`);
  const parts = await dependencies.objects.putContent(JSON.stringify(contents), "application/json");
  return { ...origin, parts };
}

/** Content under its name; `undefined` if damaged or missing. Tensors are copied, as trainers may delete theirs. */
async function asContent(
  objects: ObjectStore,
  { key, sha256, bytes }: Found["objects"][number],
): Promise<ContentReference | undefined> {
  const content = { sha256, bytes };
  const claim = (await objects.hasContent(content, "by-checksum")) && (await objects.claimContent(sha256));
  if (typeof claim === "number") return content;
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
    const aliases = Object.keys(model.aliases).join(", ") || "none";
    throw refused(from, `model ${name} has no alias ${alias}; its aliases: ${aliases}`);
  }
  const version = await registry?.repository.findVersion(name, number);
  if (!version || !isVisible(model, version)) throw refused(from, `model ${name} has no version ${number}`);
  const artifact = await readArtifact(objects, version);
  if (artifact === undefined) {
    const rule = `version ${number} of ${name} was trained elsewhere, so the platform does not have its weights`;
    throw refused(from, `${rule}; name a version that a run of the platform made`);
  }
  const reason = containerReason(name, artifact.container);
  if (reason) throw refused(from, reason);
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
  const reason = containerReason(runId, details.run.job.model.type === "container");
  if (reason) throw refused(from, reason);
  const training = findOutput(details, trainingKind);
  if (!training) {
    const rule = `run ${runId} has not finished its training (it is ${details.run.status})`;
    throw refused(from, `${rule}; wait for it, or name one of its checkpoints: ${runId}@EPOCH`);
  }
  return { runId, weightsSha256: training.weightsSha256, objects: [training.weights] };
}

function refused(from: string, rule: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError("the run cannot be fine-tuned", [{ path: "fineTune.from", value: from, rule }], cause);
}

const tensorChecksAtOnce = 8;

/**
 * Finds the checkpoint with which a new run starts. `copyTo` copies its manifest to that run, and keeps its tensors
 * from being deleted.
 * @throws CHECKPOINT_NOT_FOUND, CheckpointDamagedError
 */
export async function checkpointStart(objects: ObjectStore, runId: string, epoch: number) {
  const list = await readCheckpoints(objects, runId);
  const manifest = checkpointOfEpoch(runId, list, epoch);
  const notFound = () => checkpointNotFound(runId, epoch, [...new Set(list.checkpoints.map((one) => one.epoch))]);
  if (!manifest) throw notFound();
  await requireTensors(objects, manifest);
  const { finishedSteps, weightsSha256 } = manifest;
  return {
    manifest,
    restoredFrom: { runId, epoch: manifest.epoch, step: finishedSteps, weightsSha256 },
    copyTo: async (to: string) => {
      await pinTensors(objects, manifest, to);
      // The source's trainers delete a manifest before they look for pins.
      if (!(await findCheckpointManifest(objects, objectKeys.checkpointManifest(runId, finishedSteps)))) {
        throw notFound();
      }
      await objects.put(
        objectKeys.checkpointManifest(to, finishedSteps),
        // The source run stores its own points.
        JSON.stringify({ ...manifest, runId: to, unsentMetrics: undefined }, null, 2),
        "application/json",
      );
    },
  };
}

/** Keeps the trainers of the runs that stored a checkpoint's tensors from deleting them. */
async function pinTensors(
  objects: ObjectStore,
  { finishedSteps, tensors }: CheckpointManifest,
  to: string,
): Promise<void> {
  const pins = new Map<string, string[]>();
  for (const { key } of tensors) {
    const owner = ownerOfTensors(key);
    if (owner !== undefined) pins.set(owner, [...(pins.get(owner) ?? []), key]);
  }
  for (const [owner, keys] of pins) {
    const pin = objectKeys.tensorPin(owner, to, finishedSteps);
    await objects.put(pin, JSON.stringify([...new Set(keys)]), "application/json");
  }
}

/**
 * Checks that all tensors exist, so that a run that cannot start is refused before it is created.
 * @throws CheckpointDamagedError
 */
async function requireTensors(
  objects: ObjectStore,
  { runId, finishedSteps, tensors }: CheckpointManifest,
): Promise<void> {
  await eachLimited(tensors, tensorChecksAtOnce, async (tensor) => {
    if (await objects.hasContent(tensor, "by-checksum")) return;
    const damage = `object ${tensor.key} (${tensor.buffer}) is missing, or its bytes are not those that were stored.`;
    throw new CheckpointDamagedError(runId, finishedSteps, damage);
  });
}
