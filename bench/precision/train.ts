import type { Precision } from "../../core/runs/hyperparameters";
import { createBatch, createDirectFeed } from "../../trainer-container/data/direct-feed";
import type { FeatureSplit } from "../../trainer-container/data/feature-split";
import { createEngine } from "../../trainer-container/engine/create-engine";
import type { TrainableModel } from "../../trainer-container/engine/engine";
import { engineOptionsOf } from "../../trainer-container/host/prepare";
import { planTraining } from "../../trainer-container/loop/plan";
import type { Digits, Split } from "../reduction/digits";
import { trainAlone } from "../support/alone";
import type { PrecisionModel } from "./models";

export interface Trained {
  readonly validationLoss: number;
  readonly accuracy: number;
  readonly skippedSteps: number;
  readonly cpuSeconds: number;
}

const validationRows = 500;

function splitOf({ images, labels }: Split): FeatureSplit {
  const width = images[0]!.length;
  return {
    rows: labels.length,
    width,
    gather(rows, inputs, into) {
      rows.forEach((row, i) => {
        inputs.set(images[row]!, i * width);
        into[i] = labels[row]!;
      });
    },
    gatherSparse: () => {
      throw new Error("these rows are dense");
    },
    createLabels: (count) => new Int32Array(count),
  };
}

/** Trains as one worker of the trainer does: Adam, a cosine to 0, 8 microshards. */
export async function trainIn(
  { definition, batchSize, ...model }: PrecisionModel,
  data: Digits,
  { precision, seed, epochs }: { readonly precision: Precision; readonly seed: number; readonly epochs: number },
): Promise<Trained> {
  const task = {
    runId: "bench",
    seed,
    model: { type: "mlp", hidden: [], activation: "relu", dropout: 0 }, // no part of the plan depends on it
    hyperparameters: {
      optimizer: "adam",
      learningRate: 0.001,
      momentum: 0.9,
      weightDecay: 0,
      schedule: "cosine",
      warmupSteps: 20,
      gradientFormat: "float32",
      precision,
      clipNorm: 0,
      batchSize,
      epochs: model.epochs ?? epochs,
    },
    microshards: 8,
    workers: 1,
    minWorkers: 1,
    gpusPerWorker: 0,
    threads: 1,
    backend: "native",
    featureManifestKey: "",
    checkpoint: { everySteps: 1, everySeconds: 600, keep: 1 },
  } as const;
  const started = process.cpuUsage();
  const train = splitOf(data.train);
  const plan = planTraining(task, train.rows);
  const engine = await createEngine(engineOptionsOf(task));
  const trainable = await engine.createModel(definition, seed);
  const { replica, step } = trainAlone(trainable, plan, createDirectFeed(train, plan.sampler));
  let skippedSteps = 0;
  while (replica.finishedSteps < plan.totalSteps) skippedSteps = (await step()).skippedSteps ?? 0;
  const { user, system } = process.cpuUsage(started);
  const scored = validate(trainable, splitOf(data.validation));
  trainable.dispose();
  return { ...scored, skippedSteps, cpuSeconds: (user + system) / 1e6 };
}

function validate(model: TrainableModel, split: FeatureSplit): Pick<Trained, "validationLoss" | "accuracy"> {
  let [loss, correct, rows] = [0, 0, 0];
  for (let first = 0; first + validationRows <= split.rows; first += validationRows) {
    const batch = createBatch(validationRows, split.width, new Int32Array(validationRows));
    split.gather(
      Uint32Array.from({ length: validationRows }, (_, at) => first + at),
      batch.inputs,
      batch.labels,
    );
    const result = model.evaluate(batch);
    loss += result.loss;
    correct += result.correct ?? Number.NaN;
    rows += result.weight;
  }
  return { validationLoss: loss / rows, accuracy: correct / rows };
}
