/**
 * Draws classes by the seed of the call alone. TensorFlow's own operation keeps a state between calls, so its draws would
 * depend on the worker, and it refuses to draw without a seed.
 */
import * as tf from "@tensorflow/tfjs-core";
import { replaceKernel } from "./op";

export function registerMultinomial(): void {
  replaceKernel(tf.Multinomial, ({ inputs, attrs }) => {
    const logits = inputs["logits"] as tf.Tensor2D;
    const { numSamples, seed, normalized } = attrs as unknown as tf.MultinomialAttrs;
    const [rows, classes] = logits.shape;
    return tf.tidy(() => {
      const shares = normalized ? logits : tf.softmax(logits);
      const bounds = tf.slice(tf.cumsum(shares, 1), [0, 0], [rows, classes - 1]);
      const draws = tf.randomUniform([rows, numSamples, 1], 0, 1, "float32", seed);
      return tf.sum(tf.cast(tf.greaterEqual(draws, tf.expandDims(bounds, 1)), "int32"), 2);
    });
  });
}
