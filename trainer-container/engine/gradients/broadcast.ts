import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";

/** Sums over the axes along which a tensor of `shape` was broadcast. */
export function sumTo(tensor: tf.Tensor, shape: readonly number[]): tf.Tensor {
  const axes = tf.broadcast_util.getReductionAxes([...shape], tensor.shape).filter((axis) => tensor.shape[axis] !== 1);
  const sum = axes.length === 0 ? tensor : tf.sum(tensor, axes);
  return tf.util.arraysEqual(sum.shape, [...shape]) ? sum : tf.reshape(sum, [...shape]);
}

/** Lets the inputs of operations have different shapes, whose gradients TensorFlow.js gives in the shape of the output. */
export function registerBroadcastGradients(): void {
  for (const kernelName of [tf.Maximum, tf.Minimum, tf.SquaredDifference, tf.BatchMatMul]) {
    const gradient = tf.getGradient(kernelName);
    const { gradFunc } = gradient;
    replaceGradient({
      ...gradient,
      gradFunc: (dy, saved, attrs) => {
        const [a, b] = saved as [tf.Tensor, tf.Tensor];
        const gradients = gradFunc(dy, saved, attrs);
        return { a: () => sumTo(gradients["a"]!(), a.shape), b: () => sumTo(gradients["b"]!(), b.shape) };
      },
    });
  }
}
