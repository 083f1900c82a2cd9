import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";

/**
 * Registers the gradients of `sum` and `mean` as one broadcast. TensorFlow.js multiplies by ones in the shape of x, and
 * divides the mean's gradient in this shape.
 */
export function registerReductionGradients(): void {
  for (const kernelName of [tf.Sum, tf.Mean]) {
    replaceGradient({
      kernelName,
      inputsToSave: ["x"],
      gradFunc: (output, [saved], attrs) => {
        const { shape } = saved as tf.Tensor;
        const axes = tf.util.parseAxisParam(attrs["axis"] as unknown as number[], shape);
        const kept = shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
        const count = tf.util.sizeFromShape(shape) / tf.util.sizeFromShape(kept);
        const dy = tf.reshape(output as tf.Tensor, kept);
        return { x: () => tf.broadcastTo(kernelName === tf.Mean ? tf.div(dy, count) : dy, shape) };
      },
    });
  }
}
