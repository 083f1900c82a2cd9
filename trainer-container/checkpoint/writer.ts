import { isoTime } from "../../core/clock";
import { objectKeys } from "../../core/platform/object-keys";
import type { Clock, ContentReference, ObjectStore } from "../../core/ports";
import {
  type CheckpointManifest,
  checkpointFormat,
  type TensorGroupReference,
  type TrainingIdentity,
} from "../../core/training/checkpoint/manifest";
import type { NumericsRecord } from "../../core/training/numerics";
import { encodeSafetensors } from "../../core/training/safetensors";
import type { ParameterSlot } from "../engine/engine";
import type { StateBuffer } from "./state";
import { digestAside, encodeWeights, tensorsOf } from "./weights-file";

const uploadsInFlight = 4;

/** What a checkpoint holds besides tensors. */
export interface CheckpointHeader {
  readonly finishedSteps: number;
  readonly epoch: number;
  readonly epochScore: Float64Array;
  readonly validation?: CheckpointManifest["validation"];
}

export interface CheckpointWriterOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly runId: string;
  readonly layout: readonly ParameterSlot[];
  readonly identity: TrainingIdentity;
  readonly numerics: NumericsRecord;
  /** Awaited before the manifest is written: what must outlive this process once nobody computes the steps before it again. Never rejects. */
  readonly beforeVisible?: () => Promise<void>;
}

/**
 * Stores a checkpoint from buffers that nobody changes meanwhile: tensor groups by content (those that did not change since are
 * not sent again), then the manifest, which makes it visible. Dying at any point leaves the older checkpoints as they were.
 */
export async function writeCheckpoint(
  { store, clock, runId, layout, identity, numerics, beforeVisible }: CheckpointWriterOptions,
  buffers: readonly StateBuffer[],
  header: CheckpointHeader,
): Promise<CheckpointManifest> {
  const weights = buffers.find(({ name }) => name === "weights")!.values;
  const tensors = await storeGroups(store, buffers);
  const { finishedSteps, epoch, epochScore, validation } = header;
  const manifest: CheckpointManifest = {
    format: checkpointFormat,
    runId,
    finishedSteps,
    epoch,
    identity,
    numerics,
    weightsSha256: await digestAside(encodeWeights(layout, weights)),
    ...(validation === undefined ? {} : { validation }),
    tensors,
    epochScore: Buffer.from(epochScore.buffer, epochScore.byteOffset, epochScore.byteLength).toString("base64"),
    createdAt: isoTime(clock),
  };
  await beforeVisible?.();
  await store.put(
    objectKeys.checkpointManifest(runId, finishedSteps),
    JSON.stringify(manifest, null, 2),
    "application/json",
  );
  return manifest;
}

async function storeGroups(
  store: ObjectStore,
  buffers: readonly StateBuffer[],
): Promise<readonly TensorGroupReference[]> {
  const groups = buffers.flatMap(({ name, values, groups }) => groups.map((slots) => ({ name, values, slots })));
  const stored: TensorGroupReference[] = [];
  let next = 0;
  const storeSome = async () => {
    while (next < groups.length) {
      const index = next;
      next += 1;
      const { name, values, slots } = groups[index]!;
      const file = encodeSafetensors({ tensors: tensorsOf(slots, values) });
      const content: ContentReference = await store.putContent(file);
      stored[index] = { buffer: name, ...content };
    }
  };
  await Promise.all(Array.from({ length: uploadsInFlight }, storeSome));
  return stored;
}
