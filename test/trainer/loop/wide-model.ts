import { type Batch, passOfOne, type TrainableModel } from "../../../trainer-container/engine/engine";
import { modelParts, type OnGradient } from "./linear-model";

/**
 * Not a model of anything: a gradient of many elements that costs next to nothing, depends on all weights and on the batch, and has
 * values of very different sizes, so that any slip in any element of any step shows in the end. The last elements are running statistics.
 */
export function wideModel(
  trainable = 6_500,
  statistics = 300,
  onGradient: OnGradient = () => undefined,
): TrainableModel {
  const count = trainable + statistics;
  const weights = initial.slice(0, count);
  const gradient = new Float32Array(count);
  return {
    ...modelParts,
    layout: [
      { name: "dense/kernel", shape: [trainable], offset: 0, size: trainable, trainable: true },
      { name: "norm/moving", shape: [statistics], offset: trainable, size: statistics, trainable: false },
    ],
    parameterCount: count,
    trainableCount: trainable,
    readWeights: (into) => into.set(weights),
    writeWeights: (from) => weights.set(from),
    begin: () =>
      passOfOne((batch, key, into) => {
        fillGradient(weights, gradient, noiseOf(batch, key));
        into.set(gradient);
        const result = { loss: Math.abs(weights[0]!) + batch.rows, weight: batch.rows, correct: batch.rows >> 1 };
        return onGradient(key, into, result) ?? result;
      }),
    evaluate: (batch) => ({ loss: Math.abs(weights[count - 1]!), weight: batch.rows, correct: 1 }),
  };
}

const { imul } = Math; // a look at a global is slow in Jest's context
const initial = Float32Array.from({ length: 20_000 }, (_, i) => Math.sin(i * 1.7) * 0.3);
const sizes = Float64Array.from({ length: 20_000 }, (_, i) => 2 ** ((i % 9) - 6) / 2 ** 31);

function noiseOf(batch: Batch, key: string): number {
  let noise = 1;
  for (let row = 0; row < batch.rows; row += 1) noise += batch.labels[row]! * (row + 3);
  for (const character of key) noise = (imul(noise, 31) + character.charCodeAt(0)) | 0;
  return noise;
}

/** Not a closure of the model, because every model would then be compiled again. */
function fillGradient(weights: Float32Array, gradient: Float32Array, seed: number): void {
  let noise = seed;
  let before = weights[weights.length - 1]!;
  for (let i = 0; i < gradient.length; i += 1) {
    noise = (imul(noise, 69_069) + 12_345) | 0;
    const weight = weights[i]!;
    gradient[i] = weight * 0.5 + before * 0.1 + noise * sizes[i]!;
    before = weight;
  }
}
