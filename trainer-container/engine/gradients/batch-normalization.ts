import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";
import { sumTo } from "./broadcast";

/**
 * Registers the gradient of the normalization y = (x − mean) · scale / √(variance + ε) + offset. All but the gradient of
 * x are computed from the sums of dy and dy · (x − mean) in the shape of the statistics, which may be any that broadcasts.
 * TensorFlow.js computes them in the shape of x.
 */
export function registerBatchNormalizationGradient(): void {
  supplyAbsentInputs();
  replaceGradient({
    kernelName: tf.FusedBatchNorm,
    inputsToSave: ["x", "mean", "variance", "scale"],
    gradFunc: (output, saved, attrs) => {
      const dy = output as tf.Tensor;
      const [x, mean, variance, scale] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const inverse = tf.rsqrt(tf.add(variance, attrs["varianceEpsilon"] as number));
      const factor = tf.mul(inverse, scale);
      const sumDy = sumTo(dy, mean.shape);
      const sumProduct = sumTo(tf.mul(dy, tf.sub(x, mean)), mean.shape);
      return {
        x: () => tf.mul(dy, factor),
        mean: () => tf.mul(sumDy, tf.neg(factor)),
        variance: () => tf.mul(tf.mul(sumProduct, factor), tf.mul(tf.square(inverse), -0.5)),
        scale: () => tf.mul(sumProduct, inverse),
        offset: () => sumDy,
      };
    },
  });
}

/**
 * Gives a normalization that is differentiated a scale of 1 and an offset of 0 where it has none. TensorFlow.js defines
 * its gradient so, but saves and traverses all inputs, and fails on an absent one.
 */
function supplyAbsentInputs(): void {
  const prototype = Object.getPrototypeOf(tf.engine()) as Pick<ReturnType<typeof tf.engine>, "isTapeOn" | "runKernel">;
  const { runKernel } = prototype;
  prototype.runKernel = function (this: typeof prototype, kernel, inputs, attributes) {
    if (kernel !== tf.FusedBatchNorm || !this.isTapeOn()) return runKernel.call(this, kernel, inputs, attributes);
    const { mean, scale, offset, ...others } = inputs as Readonly<Record<string, tf.Tensor>>;
    const shape = mean?.shape ?? [];
    const all = { ...others, mean, scale: scale ?? tf.ones(shape), offset: offset ?? tf.zeros(shape) };
    return runKernel.call(this, kernel, all as tf.NamedTensorMap, attributes);
  } as typeof runKernel;
}
