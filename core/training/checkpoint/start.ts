import { eachLimited } from "../../each-limited";
import { objectKeys, ownerOfTensors } from "../../object-keys";
import type { ObjectStore } from "../../ports";
import { CheckpointDamagedError, CheckpointNotFoundError } from "../../runs/errors";
import { type CheckpointManifest, checkpointOfEpoch, findCheckpointManifest, readCheckpoints } from "./manifest";

const tensorChecksAtOnce = 8;

/**
 * Finds the checkpoint with which a new run starts. `copyTo` copies its manifest to that run, and keeps its tensors from
 * being deleted.
 *
 * @throws CheckpointNotFoundError, CheckpointDamagedError
 */
export async function checkpointStart(objects: ObjectStore, runId: string, epoch: number) {
  const list = await readCheckpoints(objects, runId);
  const manifest = checkpointOfEpoch(runId, list, epoch);
  const notFound = () =>
    new CheckpointNotFoundError(runId, epoch, [...new Set(list.checkpoints.map((one) => one.epoch))]);
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
    const owner = key === undefined ? undefined : ownerOfTensors(key);
    if (key !== undefined && owner !== undefined) pins.set(owner, [...(pins.get(owner) ?? []), key]);
  }
  for (const [owner, keys] of pins) {
    const pin = objectKeys.tensorPin(owner, to, finishedSteps);
    await objects.put(pin, JSON.stringify([...new Set(keys)]), "application/json");
  }
}

/**
 * Checks that all tensors exist, so that a run that cannot start is refused before it is created.
 *
 * @throws CheckpointDamagedError
 */
async function requireTensors(
  objects: ObjectStore,
  { runId, finishedSteps, tensors }: CheckpointManifest,
): Promise<void> {
  await eachLimited(tensors, tensorChecksAtOnce, async (tensor) => {
    if (await objects.hasContent(tensor, "by-checksum")) return;
    const { key = objectKeys.content(tensor.sha256) } = tensor;
    const damage = `object ${key} (${tensor.buffer}) is missing, or its bytes are not those that were stored.`;
    throw new CheckpointDamagedError(runId, finishedSteps, damage);
  });
}
