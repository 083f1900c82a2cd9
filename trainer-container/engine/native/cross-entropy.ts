/** Softmax cross-entropy of class indices and its gradient in one operation. Inputs `labels` and `logits`, outputs loss and gradient. */
import type * as tf from "@tensorflow/tfjs-core";
import { sparseCrossEntropyKernel } from "../losses";
import { attributesOf, type NativeBackend, replaceKernel } from "./op";

export function registerCrossEntropy(backend: NativeBackend): void {
  const { float, int32 } = attributesOf(backend.binding);
  const attributes = [float("T"), int32("Tlabels")];
  replaceKernel(sparseCrossEntropyKernel, ({ inputs }) => {
    const { labels, logits } = inputs as { labels: tf.TensorInfo; logits: tf.TensorInfo };
    return backend.executeMultipleOutputs("SparseSoftmaxCrossEntropyWithLogits", attributes, [logits, labels], 2);
  });
}
