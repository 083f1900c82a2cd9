import { simdBlockSquare } from "../kernels/norm";
import { simdGround } from "../kernels/updates";
import { clipFactor, globalNorm } from "../optimizer/clip";
import { createOptimizer } from "../optimizer/create-optimizer";
import { applyStatistics } from "../optimizer/updates";
import type { ModelOptimizer, OptimizerSettings, TrainableModel } from "./engine";

/** Takes a model's steps in JavaScript's memory. */
export function memoryOptimizer(
  model: Pick<TrainableModel, "trainableCount" | "writeWeights">,
  { config, clipNorm }: OptimizerSettings,
  weights: Float32Array,
): ModelOptimizer {
  const { trainableCount } = model;
  const optimizer = createOptimizer(config, trainableCount, simdGround);
  return {
    slots: optimizer.state,
    takesPasses: false,
    step(gradient, { step, learningRate, mean, unscaled }) {
      if (!(gradient instanceof Float32Array)) throw new TypeError("this optimizer takes sums alone");
      const gradientNorm = globalNorm(gradient, trainableCount, simdBlockSquare) * unscaled;
      if (!Number.isFinite(gradientNorm)) return { results: [], gradientNorm };
      const scale = unscaled * clipFactor(gradientNorm, clipNorm);
      optimizer.step(weights.subarray(0, trainableCount), gradient, { step, learningRate, scale });
      applyStatistics(weights, gradient, trainableCount, mean);
      model.writeWeights(weights);
      return { results: [], gradientNorm };
    },
    read: () => undefined,
  };
}
