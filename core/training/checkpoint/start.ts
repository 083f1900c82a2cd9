import { eachLimited } from "../../each-limited";
import { objectKeys } from "../../object-keys";
import type { ObjectStore } from "../../ports";
import { CheckpointDamagedError, CheckpointNotFoundError } from "../../runs/errors";
import { checkpointOfEpoch, readCheckpoints } from "./list";
import type { CheckpointManifest } from "./manifest";

const tensorChecksAtOnce = 8;

/**
 * Finds the checkpoint with which a new run starts. `copyTo` copies its manifest to that run.
 *
 * @throws CheckpointNotFoundError, CheckpointDamagedError
 */
export async function checkpointStart(objects: ObjectStore, runId: string, epoch: number) {
  const list = await readCheckpoints(objects, runId);
  const manifest = checkpointOfEpoch(runId, list, epoch);
  if (!manifest) {
    const epochs = [...new Set(list.checkpoints.map((one) => one.epoch))];
    throw new CheckpointNotFoundError(runId, epoch, epochs);
  }
  await requireTensors(objects, manifest);
  const { finishedSteps, weightsSha256 } = manifest;
  return {
    manifest,
    restoredFrom: { runId, epoch: manifest.epoch, step: finishedSteps, weightsSha256 },
    copyTo: (to: string) =>
      objects.put(
        objectKeys.checkpointManifest(to, finishedSteps),
        // The source run stores its own points.
        JSON.stringify({ ...manifest, runId: to, unsentMetrics: undefined }, null, 2),
        "application/json",
      ),
  };
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
    const key = objectKeys.content(tensor.sha256);
    const damage = `object ${key} (${tensor.buffer}) is missing, or its bytes are not those that were stored.`;
    throw new CheckpointDamagedError(runId, finishedSteps, damage);
  });
}
