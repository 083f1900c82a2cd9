import type { Precision } from "../../core/runs/hyperparameters";
import { createBatch, createDirectFeed } from "../../trainer-container/data/direct-feed";
import type { FeatureSplit } from "../../trainer-container/data/feature-split";
import { createEngine } from "../../trainer-container/engine/create-engine";
import type { TrainableModel } from "../../trainer-container/engine/engine";
import { engineOptionsOf } from "../../trainer-container/host/prepare";
import { planTraining } from "../../trainer-container/loop/plan";
import type { Digits } from "../reduction/digits";
import { trainAlone } from "../support/alone";
import { precisionModels } from "./models";

export interface Trained {
  readonly validationLoss: number;
  readonly accuracy: number;
  readonly skippedSteps: number;
  readonly cpuSeconds: number;
}

const width = 28 * 28;
const validationRows = 500;

function splitOf({ images, labels }: Digits["train"]): FeatureSplit {
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
      throw new Error("digits are dense");
    },
    createLabels: (count) => new Int32Array(count),
  };
}

/** Trains as one worker of the trainer does: Adam, a cosine to 0, batches of 128 in 8 microshards. */
export async function trainDigits(
  name: string,
  digits: Digits,
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
      batchSize: 128,
      epochs,
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
  const train = splitOf(digits.train);
  const plan = planTraining(task, train.rows);
  const engine = await createEngine(engineOptionsOf(task));
  const model = await engine.createModel(precisionModels[name]!, seed);
  const { replica, step } = trainAlone(model, plan, createDirectFeed(train, plan.sampler));
  let skippedSteps = 0;
  while (replica.finishedSteps < plan.totalSteps) skippedSteps = (await step()).skippedSteps ?? 0;
  const { user, system } = process.cpuUsage(started);
  const scored = validate(model, splitOf(digits.validation));
  model.dispose();
  return { ...scored, skippedSteps, cpuSeconds: (user + system) / 1e6 };
}

function validate(model: TrainableModel, split: FeatureSplit): Pick<Trained, "validationLoss" | "accuracy"> {
  let [loss, correct, rows] = [0, 0, 0];
  for (let first = 0; first + validationRows <= split.rows; first += validationRows) {
    const batch = createBatch(validationRows, width, new Int32Array(validationRows));
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
