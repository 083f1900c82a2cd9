import type { ObjectStore } from "../../core/ports";
import type { TrainingTask } from "../../core/runs/training-task";
import { storeTask } from "../../test/trainer/process/task";

/** Steps per epoch: 1,023 rows in batches of 32. */
const stepsPerEpoch = 31;

export interface Job {
  readonly workers: number;
  readonly minWorkers: number;
  readonly microBatches: number;
  readonly epochs: number;
  readonly backend: "wasm" | "native";
}

export const checkpointEverySteps = 50;

export function totalSteps({ epochs }: Job): number {
  return epochs * stepsPerEpoch;
}

/** Stores a multilayer perceptron with dropout and AdamW on a synthetic set of three classes. Its steps are small, so faults dominate. */
export function storeJob(
  store: ObjectStore,
  runId: string,
  { workers, minWorkers, microBatches, epochs, backend }: Job,
): Promise<void> {
  const changes: Partial<TrainingTask> = {
    model: { type: "mlp", hidden: [128, 64], activation: "relu", dropout: 0.1 },
    workers,
    minWorkers,
    microBatches,
    backend,
    checkpoint: { everySteps: checkpointEverySteps, everySeconds: 600, keep: 3 },
  };
  return storeTask(store, runId, changes, { epochs });
}
