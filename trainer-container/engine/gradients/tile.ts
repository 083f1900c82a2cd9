import * as tf from "@tensorflow/tfjs-core";
import { repeatedAxes } from "../../../adapters/tfjs/kernels/tile";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";

/** Registers the gradient of `tile` for any rank as one sum. TensorFlow.js adds one slice for each repetition. */
export function registerTileGradient(): void {
  replaceGradient({
    kernelName: tf.Tile,
    inputsToSave: ["x"],
    gradFunc: (output, [saved], attrs) => {
      const dy = output as tf.Tensor;
      const { shape } = saved as tf.Tensor;
      const axes = repeatedAxes(shape, attrs["reps"] as unknown as readonly number[]);
      const repeated = axes.flatMap(({ repeats }, axis) => (repeats ? [axis] : []));
      const split = axes.map(({ size }) => size);
      return { x: () => tf.reshape(repeated.length === 0 ? dy : tf.sum(tf.reshape(dy, split), repeated), shape) };
    },
  });
}
