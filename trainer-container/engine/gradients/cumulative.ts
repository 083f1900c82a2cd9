import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";

interface Cumulative {
  readonly axis: number;
  readonly exclusive: boolean;
  readonly reverse: boolean;
}

/** Registers the gradients of `cumsum`, which TensorFlow.js transposes but along the last axis, and of `cumprod`. */
export function registerCumulativeGradients(): void {
  replaceGradient({
    kernelName: tf.Cumsum,
    gradFunc: (dy, _, attrs) => {
      const { axis, exclusive, reverse } = attrs as unknown as Cumulative;
      return { x: () => tf.cumsum(dy as tf.Tensor, axis, exclusive, !reverse) };
    },
  });
  replaceGradient({
    kernelName: tf.Cumprod,
    inputsToSave: ["x"],
    outputsToSave: [true],
    gradFunc: (dy, saved, attrs) => {
      const [x, y] = saved as [tf.Tensor, tf.Tensor];
      const { axis, exclusive, reverse } = attrs as unknown as Cumulative;
      // As in TensorFlow, the gradient of an x of 0 is NaN.
      return { x: () => tf.div(tf.cumsum(tf.mul(dy as tf.Tensor, y), axis, exclusive, !reverse), x) };
    },
  });
}
