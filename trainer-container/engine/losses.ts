/**
 * Losses of each row, `[rows]`, from logits (classification, binary) or values (regression). The first two define their
 * gradients: this needs fewer kernels than the chain of operations, and no log of a probability that has rounded to 0.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { Task } from "../../core/runs/model-definition";

/** A backend may provide softmax cross-entropy and its gradient as one kernel under this name. */
export const sparseCrossEntropyKernel = "SparseCrossEntropy";

/** log Σ exp(z) − z[label]; gradient softmax(z) − onehot(label). */
function softmaxCrossEntropy(labels: tf.Tensor1D, logits: tf.Tensor2D): tf.Tensor1D {
  if (tf.getKernel(sparseCrossEntropyKernel, tf.getBackend())) return fusedCrossEntropy(labels, logits);
  const oneHot = tf.oneHot(labels, logits.shape[1], 1, 0, "float32") as tf.Tensor2D;
  const rowLoss = tf.customGrad((z, save) => {
    const shifted = tf.sub(z as tf.Tensor, tf.max(z as tf.Tensor, 1, true));
    const exponentials = tf.exp(shifted);
    const sums = tf.sum(exponentials, 1, true);
    const value = tf.sub(tf.squeeze(tf.log(sums), [1]), tf.sum(tf.mul(shifted, oneHot), 1));
    const gradient = tf.sub(tf.div(exponentials, sums), oneHot);
    (save as (tensors: tf.Tensor[]) => void)([gradient]);
    return {
      value,
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => tf.mul(tf.expandDims(dy, 1), saved[0] as tf.Tensor),
    };
  });
  return rowLoss(logits) as tf.Tensor1D;
}

function fusedCrossEntropy(labels: tf.Tensor1D, logits: tf.Tensor2D): tf.Tensor1D {
  const rowLoss = tf.customGrad((z, save) => {
    const inputs = { labels, logits: z as tf.Tensor };
    const [value, gradient] = tf.engine().runKernel(sparseCrossEntropyKernel, inputs) as tf.Tensor[] as [
      tf.Tensor,
      tf.Tensor,
    ];
    (save as (tensors: tf.Tensor[]) => void)([gradient]);
    return {
      value,
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => tf.mul(tf.expandDims(dy, 1), saved[0] as tf.Tensor),
    };
  });
  return rowLoss(logits) as tf.Tensor1D;
}

/** max(z, 0) − z·y + log(1 + exp(−|z|)); gradient sigmoid(z) − y. */
function sigmoidCrossEntropy(labels: tf.Tensor1D, logits: tf.Tensor2D): tf.Tensor1D {
  const rowLoss = tf.customGrad((z, save) => {
    const logit = z as tf.Tensor;
    const tail = tf.log1p(tf.exp(tf.neg(tf.abs(logit))));
    const value = tf.add(tf.sub(tf.relu(logit), tf.mul(logit, labels)), tail);
    (save as (tensors: tf.Tensor[]) => void)([tf.sub(tf.sigmoid(logit), labels)]);
    return { value, gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => tf.mul(dy, saved[0] as tf.Tensor) };
  });
  return rowLoss(tf.squeeze(logits, [1])) as tf.Tensor1D;
}

/** Mean over a row's outputs of (value − label)². */
function meanSquaredError(labels: tf.Tensor2D, values: tf.Tensor2D): tf.Tensor1D {
  return tf.mean(tf.squaredDifference(values, labels), 1);
}

export function defaultLoss(task: Task): (labels: tf.Tensor, outputs: tf.Tensor) => tf.Tensor {
  if (task === "classification") return softmaxCrossEntropy as (labels: tf.Tensor, outputs: tf.Tensor) => tf.Tensor;
  if (task === "binary") return sigmoidCrossEntropy as (labels: tf.Tensor, outputs: tf.Tensor) => tf.Tensor;
  return meanSquaredError as (labels: tf.Tensor, outputs: tf.Tensor) => tf.Tensor;
}
