/**
 * Adds a bias on few channels. Eigen adds `[…, channels]` and `[channels]` in runs of `channels` elements, seven times
 * slower than memory allows for 8 of them. Repeating the bias over a row first gives long runs and the same sums.
 */
import * as tf from "@tensorflow/tfjs-core";
import { nativeBackendName, replaceKernel } from "./op";

/** Length from which runs are long enough. */
const longRun = 128;

export function registerAdd(): void {
  const stock = tf.getKernel(tf.Add, nativeBackendName).kernelFunc;
  replaceKernel(tf.Add, (call) => {
    const { a, b } = call.inputs as { a: tf.Tensor; b: tf.Tensor };
    const [rows = 0, height = 0, width = 0, channels = 0] = a.shape;
    const isBias = a.shape.length === 4 && b.shape.length === 1 && b.shape[0] === channels && channels < longRun;
    if (!isBias || a.dtype !== "float32" || b.dtype !== "float32" || height * width < 2) return stock(call);
    return tf.tidy(() => {
      const repeated = tf.tile(b, [height * width]);
      const flat = tf.reshape(a, [rows, height * width * channels]);
      const sum = stock({ ...call, inputs: { a: flat, b: repeated } }) as tf.Tensor;
      return tf.reshape(sum, a.shape);
    });
  });
}
