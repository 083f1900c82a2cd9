import {
  type Batch,
  type BatchResult,
  type OptimizerSettings,
  type ParameterSlot,
  passOfOne,
  type TrainableModel,
} from "../../../trainer-container/engine/engine";
import { memoryOptimizer } from "../../../trainer-container/engine/memory-optimizer";

/** Parts of a model that the loop's tests do not use. */
export const modelParts = {
  layers: [],
  takesSparse: false,
  maxSum: 1,
  shareWeights: () => undefined,
  attachOptimizer(this: TrainableModel, settings: OptimizerSettings, weights: Float32Array) {
    return memoryOptimizer(this, settings, weights);
  },
  explainNonFinite: () => undefined,
  predict: () => new Float32Array(0),
  topology: () => "{}",
  dispose: () => undefined,
};

/** May change a gradient, or return another result. */
export type OnGradient = (key: string, gradient: Float32Array, result: BatchResult) => BatchResult | undefined;

/**
 * Softmax regression in plain JavaScript, for tests of the loop: `kernel` [features, classes], `bias` [classes], and one running
 * statistic, the mean of the inputs with momentum 0.9, as batch normalisation keeps it.
 */
export function linearModel(
  features: number,
  classes: number,
  onGradient: OnGradient = () => undefined,
): TrainableModel {
  const kernel = features * classes;
  const trainableCount = kernel + classes;
  const weights = Float32Array.from({ length: trainableCount + 1 }, (_, i) => Math.sin(i) * 0.1);
  weights[trainableCount] = 0;
  let lossScale = 1;
  const layout: ParameterSlot[] = [
    { name: "dense/kernel", shape: [features, classes], offset: 0, size: kernel, trainable: true },
    { name: "dense/bias", shape: [classes], offset: kernel, size: classes, trainable: true },
    { name: "mean/moving", shape: [1], offset: trainableCount, size: 1, trainable: false },
  ];

  function score(batch: Batch, gradient?: Float32Array): BatchResult {
    let loss = 0;
    let correct = 0;
    let total = 0;
    for (let row = 0; row < batch.rows; row += 1) {
      const input = batch.inputs.subarray(row * features, (row + 1) * features);
      const label = batch.labels[row]!;
      const logits = Array.from({ length: classes }, (_, c) =>
        input.reduce((sum, x, f) => sum + x * weights[f * classes + c]!, weights[kernel + c]!),
      );
      const top = Math.max(...logits);
      const exponentials = logits.map((logit) => Math.exp(logit - top));
      const partition = exponentials.reduce((sum, e) => sum + e, 0);
      loss += Math.log(partition) + top - logits[label]!;
      if (logits.indexOf(top) === label) correct += 1;
      exponentials.forEach((e, c) => {
        const slope = e / partition - (c === label ? 1 : 0);
        if (gradient === undefined) return;
        gradient[kernel + c]! += slope;
        input.forEach((x, f) => {
          gradient[f * classes + c]! += slope * x;
        });
      });
      total += input.reduce((sum, x) => sum + x, 0) / features;
    }
    if (gradient) {
      const before = weights[trainableCount]!;
      const after = 0.9 * before + 0.1 * (total / batch.rows);
      gradient[trainableCount] = batch.rows * (before - after);
    }
    return { loss, weight: batch.rows, correct };
  }

  return {
    ...modelParts,
    layout,
    parameterCount: trainableCount + 1,
    trainableCount,
    readWeights: (into) => into.set(weights),
    writeWeights: (from) => weights.set(from),
    begin: () =>
      passOfOne((batch, key, into, onFinal) => {
        into.fill(0);
        const result = score(batch, into);
        for (let i = 0; i < trainableCount; i += 1) into[i]! *= lossScale;
        onFinal?.(kernel, trainableCount);
        onFinal?.(0, kernel);
        return onGradient(key, into, result) ?? result;
      }),
    scaleLoss(scale) {
      lossScale = scale;
    },
    evaluate: (batch) => score(batch),
  };
}
