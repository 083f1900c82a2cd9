import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";
import { sumTo } from "./broadcast";

/**
 * Registers the gradient of the normalization y = (x − mean) · scale / √(variance + ε) + offset. All but the gradient of
 * x are computed from the sums of dy and dy · (x − mean) in the shape of the statistics, which may be any that broadcasts.
 * TensorFlow.js computes them in the shape of x.
 */
export function registerBatchNormalizationGradient(): void {
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
