import { eachLimited } from "../../core/each-limited";
import { CorruptObjectError, findJson } from "../../core/object-documents";
import { objectKeys, ownerOfTensors } from "../../core/object-keys";
import type { ObjectStore } from "../../core/ports";
import {
  type CheckpointManifest,
  findCheckpointManifest,
  manifestKeys,
  tensorPin,
} from "../../core/training/checkpoint/manifest";
import type { TensorPlaces } from "./state-files";

/** A smaller state's tensors are stored again: to find unchanged ones would cost as many requests. */
const smallStateBytes = 8 * 1024 * 1024;
const erasuresAtOnce = 8;

/**
 * Finds tensors to share with the newest visible checkpoint: retention keeps it until a newer one is visible.
 * @param checkpoint.bytes size of the whole state
 */
export async function tensorPlaces(
  store: ObjectStore,
  checkpoint: { readonly runId: string; readonly step: number; readonly bytes: number },
): Promise<TensorPlaces> {
  const { runId, step, bytes } = checkpoint;
  const newest = bytes < smallStateBytes ? undefined : await newestCheckpoint(store, runId);
  const earlier = (newest?.tensors ?? []).map(({ sha256, key }): readonly [string, string] => [sha256, key]);
  return { runId, step, earlier: Object.fromEntries(earlier) };
}

async function newestCheckpoint(store: ObjectStore, runId: string): Promise<CheckpointManifest | undefined> {
  const key = (await manifestKeys(store, runId)).at(-1);
  try {
    return key === undefined ? undefined : await findCheckpointManifest(store, key);
  } catch (error) {
    if (error instanceof CorruptObjectError) return undefined;
    throw error;
  }
}

/** Returns the keys of a checkpoint's tensors that the run itself has stored. Those of other runs are never deleted. */
export function ownTensors(runId: string, { tensors }: CheckpointManifest): readonly string[] {
  return tensors.flatMap(({ key }) => (ownerOfTensors(key) === runId ? [key] : []));
}

/**
 * Deletes tensors of deleted manifests, except those that a kept checkpoint or another run refers to. A run pins first
 * and then looks for the manifest, so one of the two notices the other.
 */
export async function eraseTensors(
  store: ObjectStore,
  runId: string,
  { deleted, kept }: { readonly deleted: readonly string[]; readonly kept: readonly string[] },
): Promise<void> {
  const unused = new Set(deleted);
  for (const key of kept) unused.delete(key);
  if (unused.size === 0) return;
  for (const pin of await store.list(objectKeys.tensorPinPrefix(runId))) {
    for (const key of (await findJson(store, pin, tensorPin)) ?? []) unused.delete(key);
  }
  await eachLimited([...unused], erasuresAtOnce, (key) => store.erase(key));
}
