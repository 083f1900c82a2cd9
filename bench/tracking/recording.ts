import type { TrainingProgress } from "../../core/runs/progress";
import { createTelemetry } from "../../trainer-container/telemetry/telemetry";

/** Metrics of a classifier's step. */
const metrics = ["train/loss", "train/accuracy", "train/gradient-norm", "train/learning-rate"] as const;

/**
 * Measures the cost of tracking on the training thread alone in a loop: the points of each step, and each half second a batch
 * that is copied to another thread.
 *
 * @returns milliseconds of processor time per step
 */
export async function recordingCost(stepMs: number, steps = 200_000): Promise<number> {
  const copied: unknown[] = [];
  const sender = {
    post: async (batch: unknown) => {
      copied[0] = structuredClone(batch);
    },
    close: async () => undefined,
  };
  const telemetry = createTelemetry("run", sender, { now: Date.now });
  telemetry.lead(true);
  const stepsABatch = Math.max(1, Math.round(500 / stepMs));
  const progress: TrainingProgress = {
    step: 0,
    totalSteps: steps,
    epoch: 1,
    epochs: 1,
    generation: 1,
    worldSize: 1,
    loss: 0,
    samplesPerSecond: 0,
    backend: "wasm",
    workers: [],
  };
  const before = process.cpuUsage();
  for (let step = 1; step <= steps; step += 1) {
    for (const metric of metrics) telemetry.shared(metric, step, Math.sin(step));
    telemetry.progress(() => progress);
    if (step % stepsABatch === 0) await telemetry.settled(1_000);
  }
  const { user, system } = process.cpuUsage(before);
  await telemetry.close(0);
  return (user + system) / 1_000 / steps;
}
