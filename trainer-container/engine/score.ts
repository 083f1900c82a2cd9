/** Losses of each row, `[rows]`, with defined gradients: fewer kernels, and no log of a probability rounded to 0. */
import * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";
import { standardized } from "../../core/features/transform";
import type { ModelDefinition, Task } from "../../core/runs/model-definition";
import { allLayers } from "./canonical-names";
import type { LossFunction } from "./define-training";
import type { Batch, BatchResult } from "./engine";
import { BatchError, ModelError } from "./errors";
import { callUserCode, describeReturned } from "./user-code";

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

function defaultLoss(task: Task): (labels: tf.Tensor, outputs: tf.Tensor) => tf.Tensor {
  if (task === "classification") return softmaxCrossEntropy as (labels: tf.Tensor, outputs: tf.Tensor) => tf.Tensor;
  if (task === "binary") return sigmoidCrossEntropy as (labels: tf.Tensor, outputs: tf.Tensor) => tf.Tensor;
  return meanSquaredError as (labels: tf.Tensor, outputs: tf.Tensor) => tf.Tensor;
}

export interface BatchTensors {
  readonly rows: number;
  /** `[rows, ...inputShape]`. */
  readonly inputs: tf.Tensor;
  /** int32 class indices, or float32 values. */
  readonly labels: tf.Tensor;
  /** `[rows]`; undefined: all 1. */
  readonly weights?: tf.Tensor;
  /** Sum of the rows' weights, a scalar. */
  readonly weight: tf.Tensor;
}

export interface Scored {
  /** Sum of weight × loss over the rows, plus the sum of weight × regularisation. */
  readonly loss: tf.Scalar;
  readonly outputs: tf.Tensor;
  /** User metrics, each times the sum of weights. */
  readonly metrics: Readonly<Record<string, tf.Scalar>>;
}

/** @throws BatchError for a label that is not a class */
export function batchTensors(definition: ModelDefinition, batch: Batch): BatchTensors {
  const { rows, weights } = batch;
  return {
    rows,
    inputs: tf.tensor(batch.inputs, [rows, ...definition.inputShape]),
    labels: labelTensor(definition, batch),
    ...(weights === undefined ? {} : { weights: tf.tensor1d(weights) }),
    weight: tf.scalar(weightOf(batch)),
  };
}

/** Returns the sum of the rows' weights. */
export function weightOf({ rows, weights }: Batch): number {
  return weights ? weights.reduce((total, value) => total + value, 0) : rows;
}

/** Makes one forward pass. Call it within `tf.tidy`. */
export function scoreBatch(
  model: LayersModel,
  definition: ModelDefinition,
  batch: BatchTensors,
  training: boolean,
): Scored {
  const outputs = model.apply(batch.inputs, { training }) as tf.Tensor;
  const losses = rowLosses(definition, batch.labels, outputs);
  const data = sumOverRows(training ? timesClassWeights(losses, definition, batch) : losses, batch, "loss()");
  const penalties = penaltiesOf(model);
  const loss = penalties.length === 0 ? data : tf.add(data, tf.mul(tf.addN(penalties), batch.weight));
  return { loss: loss as tf.Scalar, outputs, metrics: metricsOf(definition, batch, outputs) };
}

/** Computes the regularisation, each term once. TensorFlow.js omits recurrent cells, and repeats shared layers. */
function penaltiesOf(model: LayersModel): tf.Scalar[] {
  const terms = allLayers(model.layers).flatMap(({ losses }) => losses ?? []);
  return [...new Set(terms)].map((term) => term());
}

export function readScored(definition: ModelDefinition, batch: Batch, { loss, outputs, metrics }: Scored): BatchResult {
  const numberOf = (tensor: tf.Tensor): number => tensor.dataSync()[0] as number;
  const named = Object.entries(metrics).map(([name, value]) => [name, numberOf(value)] as const);
  const counted = definition.task !== "regression";
  return {
    loss: numberOf(loss),
    weight: weightOf(batch),
    ...(counted ? { correct: countCorrect(definition, batch, outputs.dataSync()) } : {}),
    ...(named.length === 0 ? {} : { metrics: Object.fromEntries(named) }),
  };
}

function labelTensor(definition: ModelDefinition, { labels, rows }: Batch): tf.Tensor {
  if (definition.task === "regression") return tf.tensor(Float32Array.from(labels), [rows, definition.outputs]);
  if (definition.task === "binary") return tf.tensor1d(Float32Array.from(labels));
  checkClasses(definition, labels);
  return tf.tensor1d(Int32Array.from(labels), "int32");
}

/** @throws BatchError */
export function checkClasses({ outputs }: ModelDefinition, labels: ArrayLike<number>): void {
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i] as number;
    if (Number.isInteger(label) && label >= 0 && label < outputs) continue;
    throw new BatchError(`A label is ${label}, but the classes are the integers 0 to ${outputs - 1}.`);
  }
}

function rowLosses(definition: ModelDefinition, labels: tf.Tensor, outputs: tf.Tensor): tf.Tensor {
  const customLoss = definition.type === "module" ? (definition.loss as LossFunction | undefined) : undefined;
  const { label: scale } = definition;
  if (!customLoss) {
    if (!scale) return defaultLoss(definition.task)(labels, outputs);
    const scaled = [labels, outputs].map((each) => tf.mul(each, 1 / scale.deviation)) as [tf.Tensor, tf.Tensor];
    return defaultLoss(definition.task)(...scaled);
  }
  const standard = (each: tf.Tensor): tf.Tensor =>
    scale ? tf.mul(tf.sub(each, scale.mean), 1 / scale.deviation) : each;
  const value = callOwn("loss()", customLoss, standard(labels), standard(outputs));
  if (value.dtype === "float32") return value;
  throw new ModelError(
    `The training module's loss() returned a tensor of ${value.dtype}; it must be float32 to have a gradient.`,
  );
}

function timesClassWeights(losses: tf.Tensor, { classWeights }: ModelDefinition, { labels }: BatchTensors): tf.Tensor {
  if (classWeights === undefined) return losses;
  if (losses.rank === 0) {
    throw new ModelError(
      "The training module's loss() returned a scalar, which hyperparameters.classWeights cannot reach; " +
        "return one value a row, [rows].",
    );
  }
  return tf.mul(losses, tf.gather(tf.tensor1d([...classWeights]), tf.cast(labels, "int32")));
}

/** Returns a batch for the last dense layer's loss: standardised values, row weights times those of the classes. */
export function withHeadLabels(definition: ModelDefinition, batch: Batch): Batch {
  const { classWeights, label: scale } = definition;
  const { rows, labels, weights } = batch;
  if (scale) return { ...batch, labels: Float32Array.from(labels, (label) => standardized(label, scale)) };
  if (classWeights === undefined) return batch;
  const both = (_: unknown, row: number) => (weights?.[row] ?? 1) * (classWeights[labels[row] as number] as number);
  return { ...batch, weights: Float32Array.from({ length: rows }, both) };
}

/** Sums a `[rows]` tensor with weights. A scalar is the mean of the rows. */
function sumOverRows(value: tf.Tensor, { rows, weights }: BatchTensors, name: string): tf.Scalar {
  if (value.rank === 1 && value.shape[0] === rows) {
    return tf.sum(weights ? tf.mul(value, weights) : value) as tf.Scalar;
  }
  if (value.rank !== 0) {
    throw new ModelError(
      `The training module's ${name} returned a tensor of shape [${value.shape}]; ` +
        `it must be a scalar (the mean of the rows) or one value a row, [${rows}].`,
    );
  }
  if (weights) {
    throw new ModelError(
      `The training module's ${name} returned a scalar, which row weights cannot reach; return one value a row, [rows].`,
    );
  }
  return tf.mul(value, rows) as tf.Scalar;
}

/** Names the loss and metrics of a module that leave tensors behind. They were called before, so a value that is kept once exists. */
export function functionsThatKeep(
  definition: ModelDefinition,
  labels: tf.Tensor,
  outputs: tf.Tensor,
): readonly string[] {
  if (definition.type !== "module") return [];
  const { loss, metrics = {} } = definition as {
    loss?: LossFunction;
    metrics?: Readonly<Record<string, LossFunction>>;
  };
  const named = Object.entries(metrics).map(([name, metric]) => [`metric '${name}'`, metric] as const);
  const functions = [...(loss ? [["loss()", loss] as const] : []), ...named];
  const keeps = functions.filter(([name, own]) => {
    const { numTensors } = tf.memory();
    tf.tidy(() => void callOwn(name, own, labels, outputs));
    return tf.memory().numTensors > numTensors;
  });
  return keeps.map(([name]) => name);
}

/** Calls a user's loss or metric. @throws ModelError */
function callOwn(name: string, own: LossFunction, labels: tf.Tensor, outputs: tf.Tensor): tf.Tensor {
  const value = callUserCode(name, () => own(labels, outputs));
  if (labels.isDisposed || outputs.isDisposed) {
    throw new ModelError(
      `The training module's ${name} disposed of its ${outputs.isDisposed ? "outputs" : "labels"}, which are still needed. ` +
        "Tensors of a call are disposed at its end; remove the call of dispose().",
    );
  }
  checkTensor(value, name);
  return value;
}

/** @throws ModelError if user code returned something other than a tensor of numbers */
function checkTensor(value: unknown, name: string): asserts value is tf.Tensor {
  if (!(value instanceof tf.Tensor)) {
    throw new ModelError(
      `The training module's ${name} returned ${describeReturned(value)}; it must return a tensor, synchronously.`,
    );
  }
  if (value.isDisposed) {
    throw new ModelError(
      `The training module's ${name} returned a disposed tensor; it must not dispose what it returns.`,
    );
  }
  if (value.dtype === "string" || value.dtype === "complex64") {
    throw new ModelError(`The training module's ${name} returned a tensor of ${value.dtype}; it must hold numbers.`);
  }
}

export function countCorrect(
  definition: ModelDefinition,
  { labels, rows, weights }: Batch,
  outputs: ArrayLike<number>,
): number {
  const width = definition.outputs;
  let correct = 0;
  for (let row = 0; row < rows; row++) {
    let guess = 0;
    if (definition.task === "binary") guess = (outputs[row] as number) > 0 ? 1 : 0;
    else {
      for (let i = 1; i < width; i++) {
        if ((outputs[row * width + i] as number) > (outputs[row * width + guess] as number)) guess = i;
      }
    }
    if (guess === labels[row]) correct += weights?.[row] ?? 1;
  }
  return correct;
}

/** Computes as `countCorrect`, for outputs that are numbers. @returns undefined for a regression */
export function correctRows(
  { task, outputs: width }: ModelDefinition,
  { rows, labels, weights }: BatchTensors,
  outputs: tf.Tensor,
): tf.Scalar | undefined {
  if (task === "regression") return undefined;
  const guesses =
    task === "binary"
      ? tf.cast(tf.greater(tf.reshape(outputs, [rows]), 0), "float32")
      : tf.argMax(tf.reshape(outputs, [rows, width]), 1);
  const correct = tf.cast(tf.equal(guesses, labels), "float32");
  return tf.sum(weights ? tf.mul(correct, weights) : correct) as tf.Scalar;
}

function metricsOf(
  definition: ModelDefinition,
  batch: BatchTensors,
  outputs: tf.Tensor,
): Readonly<Record<string, tf.Scalar>> {
  if (definition.type !== "module" || !definition.metrics) return {};
  const entries = Object.entries(definition.metrics as Readonly<Record<string, LossFunction>>).map(([name, metric]) => {
    const what = `metric '${name}'`;
    const value = callOwn(what, metric, batch.labels, outputs);
    const sum = sumOverRows(value, batch, what);
    // Comparisons give integers, which a graph cannot return next to the loss.
    return [name, sum.dtype === "float32" ? sum : tf.cast(sum, "float32")] as const;
  });
  return Object.fromEntries(entries);
}
