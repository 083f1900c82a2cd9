import type { ContentReference } from "../ports";
import type { Warning } from "../warnings";
import type { Hyperparameters } from "./hyperparameters";
import type { ModelSpec } from "./job";
import type { NumericsRecord } from "./numerics";

/**
 * What a trainer reads, knowing only its run's id: `objectKeys.trainingTask(runId)`, written once by launch-training before the job
 * is submitted. Identity (seed, model, data, V) and conduct (workers, checkpoints) of one training.
 */
export interface TrainingTask {
  readonly runId: string;
  readonly seed: number;
  readonly model: ModelSpec;
  readonly hyperparameters: Hyperparameters;
  /** V: microshards a global batch. */
  readonly microshards: number;
  readonly workers: number;
  readonly minWorkers: number;
  /** Each worker holds the optimizer's state of two segments instead of all. Conduct: the weights are the same bits. Default false. */
  readonly shardOptimizer?: boolean;
  readonly gpusPerWorker: number;
  /** GPUs may round the factors of float32 products to TF32. Default false. */
  readonly tf32?: boolean;
  /** Of each worker's engine. */
  readonly threads: number;
  readonly backend: "auto" | "native" | "wasm";
  /** Go on although numerics differ from those that the run began with: its weights are then not those of an undisturbed run. */
  readonly allowOtherNumerics?: boolean;
  /** Key of the `FeatureManifest` JSON. */
  readonly featureManifestKey: string;
  /** The checkpoint that the training begins with was put under the run's own key; without it, the training must not begin. */
  readonly startStep?: number;
  readonly checkpoint: {
    readonly everySteps: number;
    readonly everySeconds: number;
    readonly keep: number;
  };
}

/**
 * `objectKeys.trainingResult(runId)`: its existence is what "training is complete" means, not any job's status. Every worker that reaches the
 * end writes the same bytes but for `finishedAt` (create once: the first wins).
 */
export interface TrainingResult {
  readonly runId: string;
  /** The model's weights as safetensors; its SHA-256 is the run's `weightsSha256`. */
  readonly weights: ContentReference;
  /** tfjs-layers topology JSON. */
  readonly topology: ContentReference;
  readonly weightsSha256: string;
  readonly steps: number;
  readonly epochs: number;
  /** Last epoch's: `train/loss`, `validation/loss`, `validation/accuracy`, … */
  readonly metrics: Readonly<Record<string, number>>;
  readonly numerics: NumericsRecord;
  /** Fields of the numerics that changed on the way, which the task allowed: the weights are not those of an undisturbed run. */
  readonly otherNumerics?: readonly string[];
  readonly backend: "native" | "wasm";
  /** Findings that people should see: checkpoints that could not be used. */
  readonly warnings?: readonly Warning[];
  /** How often the gang was sealed anew. */
  readonly generations: number;
  /** ISO 8601. */
  readonly finishedAt: string;
}

/** `objectKeys.trainingFailure(runId, jobId)`: why training cannot go on, by the worker that found out. */
export interface TrainingFailure {
  readonly runId: string;
  /** `NON_FINITE_LOSS`, `NON_FINITE_GRADIENT`, `USER_CODE`, `BAD_TASK`, `NUMERICS_DIFFER`, … */
  readonly code: string;
  readonly message: string;
  readonly step?: number;
  /** Whether a new attempt may get further. */
  readonly retryable: boolean;
  readonly failedAt: string;
}

/** The failure code of a training module that threw or returned what cannot be trained: on every worker, at every attempt. */
export const userCodeFailure = "USER_CODE";

/** Exit codes of a trainer process, known to the job definition's retry rules. */
export const trainerExitCodes = {
  completed: 0,
  /** A failure was recorded; a new attempt of the process would meet it again. */
  failed: 1,
  /** Lost its gang or its host is going away: start it again (`EX_TEMPFAIL`). */
  retry: 75,
} as const;

/** Output of the step `LaunchTraining`. */
export type TrainingOutput = Omit<TrainingResult, "runId" | "finishedAt" | "warnings">;
