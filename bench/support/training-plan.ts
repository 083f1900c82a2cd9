import type { Precision } from "../../core/runs/hyperparameters";
import type { TrainingTask } from "../../core/runs/training-task";
import { planTraining } from "../../trainer-container/loop/plan";

export interface BenchTraining extends Pick<TrainingTask, "microBatches" | "backend"> {
  readonly workers: number;
  readonly batchSize: number;
  /** 0: none. */
  readonly clipNorm: number;
  readonly rows: number;
  /** Default float32. */
  readonly precision?: Precision;
  /** Default 0. */
  readonly gpusPerWorker?: number;
}

export function benchTask(training: Omit<BenchTraining, "rows">): TrainingTask {
  const { workers, batchSize, clipNorm, precision = "float32", gpusPerWorker = 0, ...task } = training;
  return {
    ...task,
    model: { type: "mlp", hidden: [], activation: "relu", dropout: 0 }, // no part of the plan depends on it
    runId: "bench",
    seed: 1,
    hyperparameters: {
      optimizer: "adam",
      learningRate: 0.001,
      momentum: 0.9,
      weightDecay: 0,
      schedule: "constant",
      warmupSteps: 0,
      gradientFormat: "float32",
      precision,
      clipNorm,
      batchSize,
      epochs: 1_000_000,
    },
    workers,
    minWorkers: workers,
    gpusPerWorker,
    threads: 1,
    featureManifestKey: "",
    checkpoint: { everySteps: 1, everySeconds: 600, keep: 1 },
  };
}

export const benchPlan = ({ rows, ...training }: BenchTraining) => planTraining(benchTask(training), rows);
