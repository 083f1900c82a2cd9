import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";
import { sumTo } from "./broadcast";

const asFloats = (tensor: tf.Tensor) => (tensor.dtype === "float32" ? tensor : tf.cast(tensor, "float32"));

/** Registers the gradient of `mul`, with the bits of TensorFlow.js's, which also converts float32 to float32. */
export function registerMultiplyGradient(): void {
  replaceGradient({
    kernelName: tf.Multiply,
    inputsToSave: ["a", "b"],
    gradFunc: (output, saved) => {
      const [dy, a, b] = [output, ...saved] as [tf.Tensor, tf.Tensor, tf.Tensor];
      return {
        a: () => sumTo(tf.mul(dy, asFloats(b)), a.shape),
        b: () => sumTo(tf.mul(dy, asFloats(a)), b.shape),
      };
    },
  });
}
