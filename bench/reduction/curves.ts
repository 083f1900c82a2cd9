import { allocateSum } from "../../trainer-container/collective/sum-memory";
import type { Engine } from "../../trainer-container/engine/engine";
import { simdGround } from "../../trainer-container/kernels/updates";
import { createOptimizer } from "../../trainer-container/optimizer/create-optimizer";
import { learningRateAt } from "../../trainer-container/optimizer/learning-rate";
import { batchSize, createTask, type Digits, leafCount } from "./digits";
import type { SumMethod } from "./sums";

/** The end of a training on the digits. */
export interface CurveLine {
  readonly method: string;
  readonly seed: number;
  /** Mean over the last fifth of the steps. */
  readonly trainLoss: number;
  readonly validationLoss: number;
  readonly accuracy: number;
}

export interface CurveOptions {
  readonly model: "mlp" | "cnn";
  readonly seed: number;
  readonly steps: number;
  readonly learningRate: number;
}

/** Trains with Adam and a cosine down to zero, as the trainer does. Only the sum of the leaves differs between methods. */
export async function trainWith(
  method: SumMethod,
  engine: Engine,
  digits: Digits,
  { model: name, seed, steps, learningRate }: CurveOptions,
): Promise<CurveLine> {
  const task = await createTask(engine, digits, name, seed);
  const { model } = task;
  const leaves = Array.from({ length: leafCount }, () => allocateSum(paddedLength(model.parameterCount)));
  const [out, weights] = [allocateSum(paddedLength(model.parameterCount)), allocateSum(model.parameterCount)];
  model.readWeights(weights);
  const optimizer = createOptimizer({ type: "adam" }, model.parameterCount, simdGround);
  let tail = 0;
  for (let step = 1; step <= steps; step++) {
    const loss = task.leaves(step - 1, leaves);
    if (step > steps * 0.8) tail += loss;
    method.sum(leaves, out, step);
    const rate = learningRateAt({ learningRate, decay: { type: "cosine" } }, step, steps);
    optimizer.step(weights, out, { step, learningRate: rate, scale: 1 / batchSize });
    model.writeWeights(weights);
  }
  const { loss, accuracy } = task.validate();
  model.dispose();
  return { method: method.name, seed, trainLoss: tail / Math.floor(steps * 0.2), validationLoss: loss, accuracy };
}

/** Returns the length in whole blocks of the exact sum, padded with zeros. */
export function paddedLength(elements: number): number {
  return Math.ceil(elements / 1_024) * 1_024;
}
