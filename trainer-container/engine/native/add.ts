/**
 * Adds a bias on the channels of images or the columns of a matrix by TensorFlow's own operation. In graphs, oneDNN then
 * computes it within the convolution or product before it, and a ReLU after it as well.
 */
import * as tf from "@tensorflow/tfjs-core";
import { attributesOf, type NativeBackend, nativeBackendName, replaceKernel } from "./op";

export function registerAdd(backend: NativeBackend): void {
  const stock = tf.getKernel(tf.Add, nativeBackendName).kernelFunc;
  const { float, text } = attributesOf(backend.binding);
  const attributes = [float("T"), text("data_format", "NHWC")];
  replaceKernel(tf.Add, (call) => {
    const { a, b } = call.inputs as { a: tf.Tensor; b: tf.Tensor };
    const isBias = (a.rank === 4 || a.rank === 2) && b.rank === 1 && b.size > 1 && b.size === a.shape.at(-1);
    if (!isBias || a.dtype !== "float32" || b.dtype !== "float32") return stock(call);
    return backend.executeSingleOutput("BiasAdd", attributes, [a, b]);
  });
}
