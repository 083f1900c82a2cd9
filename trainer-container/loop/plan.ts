import type { EarlyStopping } from "../../core/runs/early-stopping";
import { type Hyperparameters, isNarrow, type NarrowPrecision } from "../../core/runs/hyperparameters";
import type { TrainingTask } from "../../core/runs/training-task";
import type { GradientFormat } from "../../core/training/narrow-format";
import { createSampler, type Sampler } from "../data/sampler";
import type { DecayConfig, LearningRateConfig } from "../optimizer/learning-rate";
import type { OptimizerConfig } from "../optimizer/optimizer";
import { TrainingHaltedError } from "./errors";

/** The parameters of a training that follow from its task and its data: the same on every worker and in every attempt. */
export interface TrainingPlan {
  readonly seed: number;
  readonly microBatches: number;
  readonly batchSize: number;
  readonly epochs: number;
  readonly sampler: Sampler;
  readonly totalSteps: number;
  /** The step at whose end this segment of the run stops: that of its pause, else the last one. */
  readonly lastStep: number;
  readonly learningRate: LearningRateConfig;
  /** Maximum global norm of a gradient; undefined: not clipped. */
  readonly clipNorm: number | undefined;
  readonly optimizer: OptimizerConfig;
  /** Format in which leaves are rounded, added and sent. */
  readonly gradientFormat: GradientFormat;
  /** Format of the factors and results of products in gradients; absent: float32 or TF32. */
  readonly precision?: NarrowPrecision;
  /** Absent: every epoch is trained, and the result has the last one's weights. */
  readonly earlyStopping?: EarlyStopping;
}

/** @throws TrainingHaltedError with `BAD_TASK` if the task cannot be trained on this number of rows */
export function planTraining(
  task: TrainingTask,
  trainingRows: number,
  /** See `SamplerOptions`. */
  shardRows?: readonly number[],
): TrainingPlan {
  const { seed, microBatches, hyperparameters } = task;
  const { batchSize, epochs } = hyperparameters;
  if (trainingRows === 0) {
    throw new TrainingHaltedError(
      "EMPTY_SPLIT",
      "the training split has no rows; push a dataset with a larger training split",
    );
  }
  if (batchSize % microBatches !== 0) {
    throw new TrainingHaltedError(
      "BAD_TASK",
      `batchSize is ${batchSize}, but must be a multiple of the ${microBatches} micro-batches: all have one shape`,
    );
  }
  if (task.gpusPerWorker > 1) {
    throw new TrainingHaltedError(
      "BAD_TASK",
      `gpusPerWorker is ${task.gpusPerWorker}, but a worker is one process and runs on one GPU; request more workers with one GPU each`,
    );
  }
  const gradientFormat = hyperparameters.gradientFormat ?? "float32"; // tasks of earlier versions lack it
  if (gradientFormat !== "float32" && task.shardOptimizer === true) {
    throw new TrainingHaltedError(
      "BAD_TASK",
      `gradientFormat is ${gradientFormat}, but a sharded optimizer's sums are float32; choose one of the two`,
    );
  }
  const { precision = "float32" } = hyperparameters;
  if (precision === "float16" && task.shardOptimizer === true) {
    throw new TrainingHaltedError(
      "BAD_TASK",
      "precision is float16, but a sharded optimizer has no loss scale; use bfloat16, or do not shard the optimizer",
    );
  }
  const sampler = createSampler({ seed, rows: trainingRows, batchSize, microBatches, shardRows });
  return {
    seed,
    microBatches,
    batchSize,
    epochs,
    sampler,
    totalSteps: epochs * sampler.stepsPerEpoch,
    lastStep: Math.min(epochs, task.pauseAt ?? epochs) * sampler.stepsPerEpoch,
    learningRate: {
      learningRate: hyperparameters.learningRate,
      decay: decayConfig(hyperparameters),
      warmupSteps: hyperparameters.warmupSteps,
    },
    clipNorm: hyperparameters.clipNorm === 0 ? undefined : hyperparameters.clipNorm,
    optimizer: optimizerConfig(hyperparameters),
    gradientFormat,
    ...(isNarrow(precision) ? { precision } : {}),
    ...(task.earlyStopping ? { earlyStopping: task.earlyStopping } : {}),
  };
}

/** @throws TrainingHaltedError with `BAD_TASK` for a step decay without a step size. */
function decayConfig({ schedule, minLearningRate, stepSize, gamma }: Hyperparameters): DecayConfig {
  switch (schedule) {
    case "constant":
      return { type: "constant" };
    case "cosine":
      return { type: "cosine", minimum: minLearningRate };
    case "step":
      if (stepSize === undefined)
        throw new TrainingHaltedError("BAD_TASK", "schedule is step, but there is no stepSize");
      return { type: "step", every: stepSize, factor: gamma };
  }
}

function optimizerConfig(hyperparameters: Hyperparameters): OptimizerConfig {
  const { optimizer, momentum, nesterov, beta1, beta2, epsilon, weightDecay } = hyperparameters;
  switch (optimizer) {
    case "sgd":
      return { type: "sgd", weightDecay };
    case "momentum":
      return { type: "momentum", momentum, nesterov, weightDecay };
    case "adam":
    case "adamw":
      return { type: optimizer, beta1, beta2, epsilon, weightDecay };
  }
}
