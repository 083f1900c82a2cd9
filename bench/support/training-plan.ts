import type { TrainingTask } from "../../core/runs/training-task";
import { planTraining } from "../../trainer-container/loop/plan";

export interface BenchTraining extends Pick<TrainingTask, "microshards" | "backend"> {
  readonly workers: number;
  readonly batchSize: number;
  /** 0: none. */
  readonly clipNorm: number;
  readonly rows: number;
}

/** Returns a training of unlimited length: Adam, float32, a constant rate. */
export function benchPlan({ workers, batchSize, clipNorm, rows, ...task }: BenchTraining) {
  return planTraining(
    {
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
        clipNorm,
        batchSize,
        epochs: 1_000_000,
      },
      workers,
      minWorkers: workers,
      gpusPerWorker: 0,
      threads: 1,
      featureManifestKey: "",
      checkpoint: { everySteps: 1, everySeconds: 600, keep: 1 },
    },
    rows,
  );
}
