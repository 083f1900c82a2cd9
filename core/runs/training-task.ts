import * as z from "zod";
import type { DocumentKind } from "../object-documents";
import { category, contentReference, count, instant, type Shape, sha256, storedNumber, warning } from "../shapes";
import { thresholdRule } from "./decision";
import { earlyStoppingOutcome, earlyStoppingSchema } from "./early-stopping";
import { fineTuneOutcome, fineTuneSchema } from "./fine-tune";
import { recordedHyperparameters } from "./hyperparameters";
import { modelSpec } from "./job";
import type { RunStepKind } from "./run-states";
import { numericsRecord } from "./shapes";

/* A training module can write all of these documents, so each is read through its schema, on both sides. */

export const engineBackend = z.enum(["auto", "native", "wasm"]);

const trainingTaskSchema = z.object({
  runId: z.string(),
  seed: z.number(),
  model: modelSpec,
  hyperparameters: recordedHyperparameters,
  microBatches: z.int().min(1).meta({ description: "V: number of micro-batches of a global batch." }),
  workers: z.int().min(1),
  minWorkers: z.int().min(1),
  pauseAt: z.int().min(1).optional().meta({
    description: "Number of finished epochs after which this segment pauses. Default: it trains to the end.",
  }),
  earlyStopping: earlyStoppingSchema.optional().meta({
    description: "Absent: every epoch is trained, and the result has the last one's weights.",
  }),
  shardOptimizer: z.boolean().optional().meta({
    description:
      "Each worker holds the optimizer's state of two segments instead of all. An execution setting: the weights are bit-identical. Default false.",
  }),
  gpusPerWorker: count,
  tf32: z.boolean().optional().meta({
    description: "GPUs may round the factors of float32 products to TF32. Default false.",
  }),
  threads: z.int().min(1).meta({ description: "Number of threads of each worker's engine." }),
  backend: engineBackend,
  allowOtherNumerics: z.boolean().optional().meta({
    description:
      "Continues although the numerics differ from those at the run's start. The weights are then not those of an undisturbed run.",
  }),
  featureManifestKey: z.string(),
  decision: z.object({ positive: category.optional(), threshold: thresholdRule.optional() }).optional().meta({
    description: "Settings of the evaluation that need a label of two classes. Checked before the first step.",
  }),
  profileKey: z.string().optional().meta({
    description: "Key of the `DatasetProfile` JSON. Present if class weights are `balanced`.",
  }),
  startStep: count.optional().meta({
    description: "The training starts from a checkpoint under the run's own key, and must not start without it.",
  }),
  fineTune: z.object({ match: fineTuneSchema.shape.match, from: z.string(), parts: sha256 }).optional().meta({
    description:
      "The weights with which the training begins, if not random ones: the digest of `FineTuneSource.parts`. Absent with `startStep`.",
  }),
  checkpoint: z.object({
    everySteps: z.int().min(1),
    everySeconds: z.number().min(0),
    keep: z.int().min(1),
    minSeconds: z.number().min(0).optional().meta({
      description:
        "A checkpoint is omitted if the last one is younger than this, except at the end of the training. Default 0.",
    }),
  }),
});
/**
 * The input of a trainer, which knows only its run's id: `objectKeys.trainingTask(runId)`, written once by
 * launch-training before the job is submitted. It has the identity (seed, model, data, V) and the execution settings
 * (workers, checkpoints) of one training.
 */
export interface TrainingTask extends Shape<typeof trainingTaskSchema> {}

export const trainingTask: DocumentKind<TrainingTask> = {
  name: "a training task",
  schema: trainingTaskSchema,
  maxBytes: 2 ** 22,
};

/** Bytes of a document that becomes a part of a row, which DynamoDB limits to 400 KB. */
const maxRowDocumentBytes = 300_000;
/** Larger topologies do not fit into a function's memory. */
const maxTopologyBytes = 2 ** 26;
const maxMessageLength = 4_000;

export function shortMessage(message: string): string {
  return message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength - 1)}…`;
}

const code = z.string().regex(/^[A-Z][A-Z0-9_]{0,63}$/, "must be 1–64 capitals, digits and underscores");
const message = z.string().max(maxMessageLength);
const fieldNames = z.array(z.string().max(200)).max(1_000);

/** The fields that a training's output and its result have in common. */
const trained = z.object({
  weights: contentReference.meta({ description: "The model's weights as safetensors." }),
  topology: contentReference
    .extend({ bytes: count.max(maxTopologyBytes) })
    .meta({ description: "tfjs-layers topology JSON, or the description of a container's files." }),
  files: z.array(contentReference).max(10).optional().meta({ description: "Other files of a container's result." }),
  weightsSha256: sha256,
  steps: count,
  epochs: z.number().min(0).max(Number.MAX_SAFE_INTEGER),
  metrics: z
    .record(z.string().min(1).max(250), storedNumber)
    .meta({ description: "Metrics of the epoch whose weights these are: `train/loss`, `validation/accuracy`, …" }),
  earlyStopping: earlyStoppingOutcome.optional().meta({ description: "With early stopping." }),
  fineTune: fineTuneOutcome.optional(),
  numerics: numericsRecord,
  otherNumerics: fieldNames.optional().meta({
    description:
      "Fields of the numerics that changed during training, as the task permits. The weights are then not those of an undisturbed run.",
  }),
  backend: numericsRecord.shape.backend,
  generations: count.meta({ description: "Number of generations of the gang." }),
});

const trainingResultSchema = trained
  .extend({
    runId: z.string(),
    warnings: z
      .array(warning.extend({ code, message }))
      .max(100)
      .optional()
      .meta({ description: "Findings for people: checkpoints that could not be used." }),
    finishedAt: instant,
  })
  .refine(({ weights, weightsSha256 }) => weights.sha256 === weightsSha256, {
    path: ["weightsSha256"],
    error: "must be the SHA-256 of the weights",
  });
/**
 * Content of `objectKeys.trainingResult(runId)`. Training is complete when it exists, whatever the job's status is.
 * Every worker that reaches the end writes the same bytes except `finishedAt`; the first write stays. Its files are
 * under `objectKeys.trainingFile`.
 */
export interface TrainingResult extends Shape<typeof trainingResultSchema> {}

export const trainingResult: DocumentKind<TrainingResult> = {
  name: "a training result",
  schema: trainingResultSchema,
  maxBytes: maxRowDocumentBytes,
};

const trainingPauseSchema = z.object({
  runId: z.string(),
  segment: count,
  epoch: count,
  finishedSteps: count,
  weightsSha256: sha256,
  pausedAt: instant,
});
/** Content of `objectKeys.trainingPause(runId, segment)`: the segment has ended with its last checkpoint stored. */
export interface TrainingPause extends Shape<typeof trainingPauseSchema> {}

export const trainingPause: DocumentKind<TrainingPause> = {
  name: "the pause of a training",
  schema: trainingPauseSchema,
  maxBytes: maxRowDocumentBytes,
};

const trainingFailureSchema = z.object({
  runId: z.string(),
  code: code.meta({
    description: "`NON_FINITE_LOSS`, `NON_FINITE_GRADIENT`, `USER_CODE`, `BAD_TASK`, `NUMERICS_DIFFER`, …",
  }),
  message,
  step: count.optional(),
  retryable: z.boolean().meta({ description: "Whether a new attempt may succeed." }),
  failedAt: instant,
});
/**
 * Content of `objectKeys.trainingFailure(runId, jobId)`: why training cannot continue, by the worker that detected it.
 */
export interface TrainingFailure extends Shape<typeof trainingFailureSchema> {}

export const trainingFailure: DocumentKind<TrainingFailure> = {
  name: "the failure of a job",
  schema: trainingFailureSchema,
  maxBytes: maxRowDocumentBytes,
};

/** Content of `objectKeys.trainingNumerics(runId)`: the numerics of the run's first worker. */
export const trainingNumerics: DocumentKind<Shape<typeof numericsRecord>> = {
  name: "a record of numerics",
  schema: numericsRecord,
  maxBytes: maxRowDocumentBytes,
};

/** A training module threw an error or returned nothing trainable: on every worker, at every attempt. */
export const userCodeFailure = "USER_CODE";

/** Exit codes of a trainer process, which the job definition's retry rules use. */
export const trainerExitCodes = {
  completed: 0,
  /** A failure was recorded that a new attempt of the process would meet again. */
  failed: 1,
  /** The process lost its gang, or its host is being reclaimed: start it again (`EX_TEMPFAIL`). */
  retry: 75,
} as const;

/** Output of the step `LaunchTraining`. Its files are in the content store. */
export const trainingOutput = trained;
export interface TrainingOutput extends Shape<typeof trainingOutput> {}
export const trainingKind: RunStepKind<TrainingOutput> = { step: "LaunchTraining", output: trainingOutput };

/** The next training of a job, with the key by which its trainer authenticates. */
export interface NextTraining {
  readonly runId: string;
  readonly segment?: number;
  readonly runKey: string;
}

/** `leave`: the job gets no further training and ends. Without `leave` and `next`, the trainer sends its request again after a pause. */
export interface JobContinuation {
  readonly next?: NextTraining;
  readonly leave?: true;
}
