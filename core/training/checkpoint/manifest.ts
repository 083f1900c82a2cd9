import type { ContentReference } from "../../ports";
import type { NumericsRecord } from "../../runs/numerics";
import type { GradientFormat } from "../narrow-format";

/**
 * A checkpoint: the training's whole state after `finishedSteps`. Its JSON is written last, at
 * `objectKeys.checkpointManifest(runId, finishedSteps)`, and makes the checkpoint visible; the tensors lie in the CAS. Sample order and
 * random draws follow from (seed, step), so the count of steps is all the position there is.
 */
export interface CheckpointManifest {
  readonly format: typeof checkpointFormat;
  readonly runId: string;
  readonly finishedSteps: number;
  /** Epochs that are finished. */
  readonly epoch: number;
  readonly identity: TrainingIdentity;
  readonly numerics: NumericsRecord;
  /** Fields in which the machines that computed its steps differed; its bits are then not those of an undisturbed run. */
  readonly otherNumerics?: readonly string[];
  /** Of `weights.safetensors` with this checkpoint's weights: equal for equal training, whoever wrote it. */
  readonly weightsSha256: string;
  /** Means over the validation split; only where the checkpoint was taken at an epoch's end. */
  readonly validation?: { readonly loss: number; readonly accuracy?: number };
  readonly tensors: readonly TensorGroupReference[];
  /**
   * Sums of the training score since the epoch began; behind them, where gradients are float16, the loss scale, its good steps, and how
   * many steps were skipped. Float64, little-endian, base64.
   */
  readonly epochScore: string;
  /** Metric points of the steps before it that were not known to be stored: who goes on from here sends them. */
  readonly unsentMetrics?: UnsentMetrics;
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface UnsentMetrics {
  /** A run that was made from another's checkpoint does not have that one's points. */
  readonly runId: string;
  /** `points`: steps, then values, then times in milliseconds since the epoch. Float64, little-endian, base64. */
  readonly series: readonly { readonly metric: string; readonly points: string }[];
}

export const checkpointFormat = "ringmaster/checkpoint@1";

/** What a checkpoint's bits depend on besides numerics: another training cannot go on from it. */
export interface TrainingIdentity {
  readonly seed: number;
  readonly microshards: number;
  readonly batchSize: number;
  /** SHA-256 over the names, shapes and order of the model's parameters. */
  readonly layout: string;
  readonly optimizer: string;
  readonly gradientFormat: GradientFormat;
}

/** A safetensors object that holds some of one buffer's parameters, by name. */
export interface TensorGroupReference extends ContentReference {
  /** `weights`, or `optimizer/<slot>`. */
  readonly buffer: string;
}

/** Fields in which two trainings differ; empty when one may go on from the other's checkpoint. */
export function identityDifferences(left: TrainingIdentity, right: TrainingIdentity): readonly string[] {
  return (Object.keys(left) as (keyof TrainingIdentity)[])
    .filter((field) => left[field] !== right[field])
    .map((field) => `${field} is ${left[field]} there and ${right[field]} here`);
}

/** Reads a manifest's text. Anything but a manifest of this format gives undefined: a checkpoint that cannot be used. */
export function parseCheckpointManifest(text: string): CheckpointManifest | undefined {
  try {
    const value = JSON.parse(text) as Partial<CheckpointManifest> | null;
    return value?.format === checkpointFormat ? (value as CheckpointManifest) : undefined;
  } catch {
    return undefined;
  }
}
