import { CorruptObjectError } from "../../object-documents";
import { objectKeys } from "../../object-keys";
import type { ObjectStore } from "../../ports";
import { CheckpointDamagedError } from "../../runs/errors";
import type { CheckpointSummary, DamagedCheckpoint } from "../../runs/shapes";
import { type CheckpointManifest, parseCheckpointManifest } from "./manifest";

/** A run's checkpoints, oldest first. */
export interface CheckpointList {
  readonly checkpoints: readonly CheckpointManifest[];
  readonly damaged: readonly DamagedCheckpoint[];
}

/** Reads a run's checkpoints. One that expires in the meantime is omitted; a damaged one is not. */
export async function readCheckpoints(objects: ObjectStore, runId: string): Promise<CheckpointList> {
  const found = await Promise.all(
    (await manifestKeys(objects, runId)).map(
      async (key): Promise<CheckpointManifest | DamagedCheckpoint | undefined> => {
        try {
          return await findCheckpointManifest(objects, key);
        } catch (error) {
          if (!(error instanceof CorruptObjectError)) throw error;
          return { finishedSteps: stepOfManifestKey(key) ?? 0, key, error: error.message };
        }
      },
    ),
  );
  const there = found.filter((one) => one !== undefined);
  return {
    checkpoints: there.filter((one) => "format" in one),
    damaged: there.filter((one) => "error" in one),
  };
}

/** Returns the keys of a run's manifests, oldest checkpoint first. */
export async function manifestKeys(objects: Pick<ObjectStore, "list">, runId: string): Promise<readonly string[]> {
  const keys = await objects.list(objectKeys.checkpointPrefix(runId));
  return keys.filter((key) => stepOfManifestKey(key) !== undefined);
}

/**
 * Reads a manifest; returns `undefined` if there is none.
 *
 * @throws CorruptObjectError if it is damaged, or is the manifest of another checkpoint
 */
export async function findCheckpointManifest(
  objects: Pick<ObjectStore, "find">,
  key: string,
): Promise<CheckpointManifest | undefined> {
  const body = await objects.find(key);
  if (body === undefined) return undefined;
  const manifest = parseCheckpointManifest(new TextDecoder().decode(body));
  if (manifest === undefined) throw new CorruptObjectError(key, "a checkpoint manifest", "something else");
  const own = objectKeys.checkpointManifest(manifest.runId, manifest.finishedSteps);
  if (own !== key) throw new CorruptObjectError(key, "this checkpoint's manifest", `that of ${own}`);
  return manifest;
}

function stepOfManifestKey(key: string): number | undefined {
  const step = /\/checkpoints\/(\d+)\/manifest\.json$/.exec(key)?.[1];
  return step === undefined ? undefined : Number(step);
}

export function summaryOf(manifest: CheckpointManifest): CheckpointSummary {
  const { finishedSteps, epoch, validation, tensors, weightsSha256, createdAt } = manifest;
  const bytes = tensors.reduce((sum, group) => sum + group.bytes, 0);
  return { finishedSteps, epoch, ...(validation ? { validation } : {}), bytes, weightsSha256, createdAt };
}

/**
 * Returns the checkpoint after n epochs: the one at that epoch's end if it still exists, else the first one of the next
 * epoch.
 *
 * @throws CheckpointDamagedError if a damaged checkpoint may be the requested one
 */
export function checkpointOfEpoch(
  runId: string,
  { checkpoints, damaged }: CheckpointList,
  epoch: number,
): CheckpointManifest | undefined {
  const found = checkpoints
    .filter((manifest) => manifest.epoch === epoch)
    .sort((a, b) => a.finishedSteps - b.finishedSteps)[0];
  const hidden = damaged.find(({ finishedSteps }) => {
    if (found) {
      const before = checkpoints.filter((one) => one.finishedSteps < found.finishedSteps).at(-1);
      return finishedSteps < found.finishedSteps && finishedSteps > (before?.finishedSteps ?? 0);
    }
    // Epochs ascend with steps, so the neighbours bound the epoch of a damaged checkpoint.
    const before = checkpoints.filter((one) => one.finishedSteps < finishedSteps).at(-1);
    const after = checkpoints.find((one) => one.finishedSteps > finishedSteps);
    return epoch >= (before?.epoch ?? 0) && epoch <= (after?.epoch ?? Number.POSITIVE_INFINITY);
  });
  if (hidden) throw new CheckpointDamagedError(runId, hidden.finishedSteps, hidden.error);
  return found;
}
