import type { ContentReference, Warning } from "../shapes";
import type { DecisionSettings } from "./decision";
import type { EarlyStopping, EarlyStoppingOutcome } from "./early-stopping";
import type { FineTune, FineTuneOutcome } from "./fine-tune";
import type { Hyperparameters } from "./hyperparameters";
import type { ModelSpec } from "./job";
import type { NumericsRecord } from "./shapes";

/**
 * The input of a trainer, which knows only its run's id: `objectKeys.trainingTask(runId)`, written once by
 * launch-training before the job is submitted. It has the identity (seed, model, data, V) and the execution settings
 * (workers, checkpoints) of one training.
 */
export interface TrainingTask {
  readonly runId: string;
  readonly seed: number;
  readonly model: ModelSpec;
  readonly hyperparameters: Hyperparameters;
  /** V: number of microshards of a global batch. */
  readonly microshards: number;
  readonly workers: number;
  readonly minWorkers: number;
  /** Number of finished epochs after which this segment of the run pauses. Default: it trains to the end. */
  readonly pauseAt?: number;
  /** Absent: every epoch is trained, and the result has the last one's weights. */
  readonly earlyStopping?: EarlyStopping;
  /**
   * Each worker holds the optimizer's state of two segments instead of all. An execution setting: the weights are
   * bit-identical. Default false.
   */
  readonly shardOptimizer?: boolean;
  readonly gpusPerWorker: number;
  /** GPUs may round the factors of float32 products to TF32. Default false. */
  readonly tf32?: boolean;
  /** Number of threads of each worker's engine. */
  readonly threads: number;
  readonly backend: "auto" | "native" | "wasm";
  /**
   * Continues although the numerics differ from those at the run's start. The weights are then not those of an
   * undisturbed run.
   */
  readonly allowOtherNumerics?: boolean;
  /** Key of the `FeatureManifest` JSON. */
  readonly featureManifestKey: string;
  /** Settings of the evaluation that need a label of two classes. Checked before the first step. */
  readonly decision?: DecisionSettings;
  /** Key of the `DatasetProfile` JSON. Present if class weights are `balanced`. */
  readonly profileKey?: string;
  /** The training starts from a checkpoint under the run's own key, and must not start without it. */
  readonly startStep?: number;
  /**
   * The weights with which the training begins, if not random ones: the digest of `FineTuneSource.parts`. Absent with
   * `startStep`.
   */
  readonly fineTune?: Pick<FineTune, "match"> & { readonly from: string; readonly parts: string };
  readonly checkpoint: {
    readonly everySteps: number;
    readonly everySeconds: number;
    readonly keep: number;
    /** A checkpoint is omitted if the last one is younger than this, except at the end of the training. Default 0. */
    readonly minSeconds?: number;
  };
}

/** A file that a trainer has stored. */
export interface ResultFile extends ContentReference {
  /** The object's key. Absent in results of earlier releases, whose files are in the content store. */
  readonly key?: string;
}

/**
 * Content of `objectKeys.trainingResult(runId)`. Training is complete when it exists, whatever the job's status is.
 * Every worker that reaches the end writes the same bytes except `finishedAt`; the first write stays.
 */
export interface TrainingResult {
  readonly runId: string;
  /** The model's weights as safetensors; its SHA-256 is the run's `weightsSha256`. */
  readonly weights: ResultFile;
  /** tfjs-layers topology JSON. */
  readonly topology: ResultFile;
  readonly weightsSha256: string;
  readonly steps: number;
  readonly epochs: number;
  /** Metrics of the epoch whose weights these are: `train/loss`, `validation/loss`, `validation/accuracy`, … */
  readonly metrics: Readonly<Record<string, number>>;
  /** With early stopping. */
  readonly earlyStopping?: EarlyStoppingOutcome;
  readonly fineTune?: FineTuneOutcome;
  readonly numerics: NumericsRecord;
  /**
   * Fields of the numerics that changed during training, as the task permits. The weights are then not those of an
   * undisturbed run.
   */
  readonly otherNumerics?: readonly string[];
  readonly backend: "native" | "wasm";
  /** Findings for people: checkpoints that could not be used. */
  readonly warnings?: readonly Warning[];
  /** Number of generations of the gang. */
  readonly generations: number;
  /** ISO 8601. */
  readonly finishedAt: string;
}

/**
 * Content of `objectKeys.trainingPause(runId, segment)`. The segment has ended, and its last checkpoint is stored, when
 * it exists.
 */
export interface TrainingPause {
  readonly runId: string;
  readonly segment: number;
  readonly epoch: number;
  readonly finishedSteps: number;
  readonly weightsSha256: string;
  /** ISO 8601. */
  readonly pausedAt: string;
}

/**
 * Content of `objectKeys.trainingFailure(runId, jobId)`: why training cannot continue, by the worker that detected it.
 */
export interface TrainingFailure {
  readonly runId: string;
  /** `NON_FINITE_LOSS`, `NON_FINITE_GRADIENT`, `USER_CODE`, `BAD_TASK`, `NUMERICS_DIFFER`, … */
  readonly code: string;
  readonly message: string;
  readonly step?: number;
  /** Whether a new attempt may succeed. */
  readonly retryable: boolean;
  readonly failedAt: string;
}

/**
 * The failure code of a training module that threw an error or returned something that cannot be trained. It occurs on
 * every worker, at every attempt.
 */
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
export interface TrainingOutput
  extends Omit<TrainingResult, "runId" | "finishedAt" | "warnings" | "weights" | "topology"> {
  readonly weights: ContentReference;
  readonly topology: ContentReference;
}
