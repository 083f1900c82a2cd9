import * as z from "zod";
import { CorruptObjectError, type DocumentKind, findJson } from "../../object-documents";
import { objectKeys, tensorKey } from "../../object-keys";
import type { ObjectStore } from "../../ports";
import { CheckpointDamagedError } from "../../runs/errors";
import { type CheckpointSummary, type DamagedCheckpoint, numericsRecord } from "../../runs/shapes";
import { base64, contentReference, count, instant, type Shape, sha256 } from "../../shapes";

export const checkpointFormat = "ringmaster/checkpoint@1";

const trainingIdentity = z.object({
  seed: z.number(),
  microBatches: count,
  batchSize: count,
  layout: z.string().meta({ description: "SHA-256 over the names, shapes and order of the model's parameters." }),
  optimizer: z.string(),
  gradientFormat: z.enum(["float32", "bfloat16", "float16"]),
  precision: z.enum(["bfloat16", "float16"]).optional().meta({
    description: "Absent: float32, or TF32, which is part of the numerics.",
  }),
});
/** Everything except numerics on which a checkpoint's bits depend. Another identity cannot continue from it. */
export interface TrainingIdentity extends Shape<typeof trainingIdentity> {}

const tensorGroup = contentReference.extend({
  buffer: z.string().meta({ description: "`weights`, `optimizer/<slot>`, or `best/weights` with early stopping." }),
  key: z.string().regex(tensorKey, "must be the key of a checkpoint's tensors"),
});
/** A safetensors object that holds some of one buffer's parameters, by name. */
export interface TensorGroupReference extends Shape<typeof tensorGroup> {}

const unsentMetrics = z.object({
  runId: z.string().meta({
    description: "Run of the points. A run that was created from another's checkpoint does not have that one's points.",
  }),
  series: z.array(
    z.object({
      metric: z.string(),
      points: base64.meta({
        description: "Steps, then values, then times in milliseconds since the epoch. Float64, little-endian.",
      }),
    }),
  ),
});
export interface UnsentMetrics extends Shape<typeof unsentMetrics> {}

/** A loss that is not finite is `null` in JSON. */
const loss = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN);

const manifest = z.object({
  format: z.literal(checkpointFormat),
  runId: z.string(),
  finishedSteps: count,
  epoch: count.meta({ description: "Number of finished epochs." }),
  identity: trainingIdentity,
  numerics: numericsRecord,
  otherNumerics: z.array(z.string()).optional().meta({
    description:
      "Fields in which the machines that computed its steps differed. The weights are then not those of an undisturbed run.",
  }),
  weightsSha256: sha256.meta({
    description:
      "SHA-256 of `weights.safetensors` with its weights. Equal for equal training, whichever worker wrote it.",
  }),
  validation: z.object({ loss, accuracy: loss.optional() }).optional().meta({
    description: "Means over the validation split; present if the checkpoint was taken at an epoch's end.",
  }),
  tensors: z.array(tensorGroup),
  epochScore: base64.meta({
    description:
      "Sums of the training score since the start of the epoch. With float16 gradients, these are followed by the loss scale, its good steps, and the number of skipped steps. Float64, little-endian.",
  }),
  bestEpoch: base64.optional().meta({
    description:
      "With early stopping: the number of the best epoch (0: none yet), the sums of its training score, and those of its validation score. Float64, little-endian.",
  }),
  unsentMetrics: unsentMetrics.optional().meta({
    description:
      "Metric points of earlier steps that may not be stored yet. A worker that continues from here sends them.",
  }),
  createdAt: instant,
});
/**
 * A checkpoint: the whole state of training after `finishedSteps`. Its JSON is written last, at
 * `objectKeys.checkpointManifest(runId, finishedSteps)`, and makes the checkpoint visible; the tensors are
 * content-addressed. Sample order and random draws follow from (seed, step), so the number of steps is the only
 * position.
 */
export interface CheckpointManifest extends Shape<typeof manifest> {}

export const checkpointManifest: DocumentKind<CheckpointManifest> = {
  name: "a checkpoint manifest",
  schema: manifest,
  maxBytes: 2 ** 26,
};

/** Keys of a run's tensors that the checkpoint of another run refers to. */
export const tensorPin: DocumentKind<readonly string[]> = {
  name: "a list of tensors",
  schema: z.array(z.string()),
  maxBytes: 2 ** 26,
};

/** Returns the fields in which two trainings differ; empty if one may continue from the other's checkpoint. */
export function identityDifferences(left: TrainingIdentity, right: TrainingIdentity): readonly string[] {
  const fields = new Set([...Object.keys(left), "precision"] as (keyof TrainingIdentity)[]);
  return [...fields]
    .filter((field) => left[field] !== right[field])
    .map((field) => `${field} is ${left[field] ?? "float32"} there and ${right[field] ?? "float32"} here`);
}

/** A run's checkpoints, oldest first. */
interface CheckpointList {
  readonly checkpoints: readonly CheckpointManifest[];
  readonly damaged: readonly DamagedCheckpoint[];
}

/** Reads a run's checkpoints. One that expires in the meantime is omitted; a damaged one is not. */
export async function readCheckpoints(objects: ObjectStore, runId: string): Promise<CheckpointList> {
  const results = await Promise.all(
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
  const there = results.filter((one) => one !== undefined);
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

/** Reads a manifest, if there is one. @throws CorruptObjectError if it is damaged or another checkpoint's */
export async function findCheckpointManifest(
  objects: Pick<ObjectStore, "find">,
  key: string,
): Promise<CheckpointManifest | undefined> {
  const manifest = await findJson(objects, key, checkpointManifest);
  if (manifest === undefined) return undefined;
  const expectedKey = objectKeys.checkpointManifest(manifest.runId, manifest.finishedSteps);
  if (expectedKey !== key) throw new CorruptObjectError(key, "this checkpoint's manifest", `that of ${expectedKey}`);
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
 * @throws CheckpointDamagedError if a damaged checkpoint may be the requested one
 */
export function checkpointOfEpoch(
  runId: string,
  { checkpoints, damaged }: CheckpointList,
  epoch: number,
): CheckpointManifest | undefined {
  const first = checkpoints
    .filter((manifest) => manifest.epoch === epoch)
    .sort((a, b) => a.finishedSteps - b.finishedSteps)[0];
  const hidden = damaged.find(({ finishedSteps }) => {
    if (first) {
      const before = checkpoints.filter((one) => one.finishedSteps < first.finishedSteps).at(-1);
      return finishedSteps < first.finishedSteps && finishedSteps > (before?.finishedSteps ?? 0);
    }
    // Epochs ascend with steps, so the neighbours bound the epoch of a damaged checkpoint.
    const before = checkpoints.filter((one) => one.finishedSteps < finishedSteps).at(-1);
    const after = checkpoints.find((one) => one.finishedSteps > finishedSteps);
    return epoch >= (before?.epoch ?? 0) && epoch <= (after?.epoch ?? Number.POSITIVE_INFINITY);
  });
  if (hidden) throw new CheckpointDamagedError(runId, hidden.finishedSteps, hidden.error);
  return first;
}
