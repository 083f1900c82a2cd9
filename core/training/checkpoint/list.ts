import { objectKeys } from "../../platform/object-keys";
import type { ObjectStore } from "../../ports";
import { type CheckpointManifest, parseCheckpointManifest } from "./manifest";

/** What a person needs to choose a checkpoint. */
export interface CheckpointSummary {
  readonly finishedSteps: number;
  /** Epochs that are finished. */
  readonly epoch: number;
  readonly validation?: CheckpointManifest["validation"];
  /** Of all tensors, those that other checkpoints share included. */
  readonly bytes: number;
  readonly weightsSha256: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A run's checkpoints that can be read, oldest first. One that expires meanwhile is left out. */
export async function readCheckpoints(objects: ObjectStore, runId: string): Promise<readonly CheckpointManifest[]> {
  const keys = (await objects.list(objectKeys.checkpointPrefix(runId))).filter((key) => key.endsWith("/manifest.json"));
  const bodies = await Promise.all(keys.map((key) => objects.find(key)));
  return bodies.flatMap((body) => {
    const manifest = body && parseCheckpointManifest(new TextDecoder().decode(body));
    return manifest ? [manifest] : [];
  });
}

export function summaryOf(manifest: CheckpointManifest): CheckpointSummary {
  const { finishedSteps, epoch, validation, tensors, weightsSha256, createdAt } = manifest;
  const bytes = tensors.reduce((sum, group) => sum + group.bytes, 0);
  return { finishedSteps, epoch, ...(validation ? { validation } : {}), bytes, weightsSha256, createdAt };
}

/**
 * The checkpoint that "epoch n" means: the state after n epochs. Taken at that epoch's end where it is still kept, else the first one of
 * the epoch that follows.
 */
export function checkpointOfEpoch(
  checkpoints: readonly CheckpointManifest[],
  epoch: number,
): CheckpointManifest | undefined {
  return checkpoints
    .filter((manifest) => manifest.epoch === epoch)
    .sort((a, b) => a.finishedSteps - b.finishedSteps)[0];
}
