import { createHash } from "node:crypto";
import type { TrainingTask } from "../../../core/runs/training-task";
import { createDirectFeed, createSplitBlocks } from "../../../trainer-container/data/direct-feed";
import type { FeatureSplit } from "../../../trainer-container/data/feature-split";
import type { TrainableModel } from "../../../trainer-container/engine/engine";
import type { Gang } from "../../../trainer-container/gang/gang";
import type { StepOutcome } from "../../../trainer-container/loop/apply";
import { createLeafComputer } from "../../../trainer-container/loop/gradients";
import { planTraining } from "../../../trainer-container/loop/plan";
import { createReplica, type Replica } from "../../../trainer-container/loop/replica";
import { type Score, scoreLayout } from "../../../trainer-container/loop/score";
import { train } from "../../../trainer-container/loop/train";
import type { Training, TrainingEvents } from "../../../trainer-container/loop/training";
import type { FakeGang } from "./fake-gang";
import { linearModel } from "./linear-model";

export const features = 4;
export const classes = 3;

/** Rows whose class follows from their inputs, so that a linear model learns them. */
export function syntheticSplit(rows: number, phase = 0): FeatureSplit {
  const input = (row: number, f: number) => Math.fround(Math.sin((row + phase) * (f + 1) * 1.7 + f));
  return {
    rows,
    width: features,
    gather(indexes, inputs, labels) {
      indexes.forEach((row, i) => {
        for (let f = 0; f < features; f += 1) inputs[i * features + f] = input(row, f);
        labels[i] = input(row, 0) > 0.3 ? 0 : input(row, 1) > 0 ? 1 : 2;
      });
    },
    gatherSparse: () => {
      throw new Error("these rows are dense");
    },
    createLabels: (count) => new Int32Array(count),
  };
}

export function taskOf(changes: Partial<TrainingTask> = {}, hyperparameters = {}): TrainingTask {
  return {
    runId: "run-1",
    seed: 7,
    model: { type: "mlp", hidden: [], activation: "relu", dropout: 0 },
    hyperparameters: {
      optimizer: "adam",
      learningRate: 0.05,
      momentum: 0.9,
      weightDecay: 0,
      schedule: "cosine",
      warmupSteps: 2,
      gradientFormat: "float32",
      clipNorm: 1,
      batchSize: 24,
      epochs: 3,
      ...hyperparameters,
    },
    microBatches: 6,
    workers: 1,
    minWorkers: 1,
    gpusPerWorker: 0,
    threads: 1,
    backend: "wasm",
    featureManifestKey: "features/x/manifest.json",
    checkpoint: { everySteps: 5, everySeconds: 600, keep: 3 },
    ...changes,
  };
}

export interface Worker {
  readonly training: Training;
  readonly replica: Replica;
  readonly outcomes: StepOutcome[];
  readonly epochs: { readonly epoch: number; readonly train: Score; readonly validation: Score | undefined }[];
  leaving: boolean;
}

/** One worker in this process: rows 0…99 to train on (4 batches and 4 rows over), 50 to validate. */
export function createWorker(
  gang: Gang,
  task: TrainingTask = taskOf(),
  model: TrainableModel = linearModel(features, classes),
  more: Partial<TrainingEvents> = {},
): Worker {
  const split = syntheticSplit(100);
  const plan = planTraining(task, split.rows);
  const layout = scoreLayout([]);
  const replica = createReplica(model, plan, layout);
  const feed = createDirectFeed(split, plan.sampler);
  const worker: Worker = {
    replica,
    outcomes: [],
    epochs: [],
    leaving: false,
    training: {
      plan,
      model,
      replica,
      layout,
      leaves: createLeafComputer({ model, plan, layout, feed, now: () => 0 }),
      validation: createSplitBlocks(syntheticSplit(50, 0.5), 16),
      enter: (finishedSteps) => gang.enter(finishedSteps),
      leaving: () => worker.leaving,
      events: {
        generationStarted: () => undefined,
        generationLost: () => undefined,
        boundary: () => undefined,
        ...more,
        stepFinished: (outcome, generation) => {
          worker.outcomes.push(outcome);
          more.stepFinished?.(outcome, generation);
        },
        epochFinished: (epoch, step, score, validation) => {
          worker.epochs.push({ epoch, train: score, validation });
          more.epochFinished?.(epoch, step, score, validation);
        },
      },
    },
  };
  return worker;
}

export const run = (worker: Worker) => train(worker.training);

/** Members that were killed never come back from `enter` or `allReduce`; only the survivors are waited for. */
export function trainTogether(gang: FakeGang, workers: Readonly<Record<string, Worker>>, survivors: readonly string[]) {
  const ends = Object.fromEntries(
    Object.entries(workers).map(([id, worker]) => [
      id,
      run(worker).then(
        (end) => {
          if (end.end !== "ended-elsewhere") gang.kill(id);
          return end;
        },
        () => undefined,
      ),
    ]),
  );
  return Promise.all(survivors.map((id) => ends[id]));
}

/** Digest of the whole state, not only of the weights. */
export function digest(replica: Replica): string {
  const hash = createHash("sha256");
  for (const { buffer, byteOffset, byteLength } of replica.buffers)
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.update(String(replica.finishedSteps)).digest("hex");
}
