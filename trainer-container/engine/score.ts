import * as tf from "@tensorflow/tfjs-core";
import type { LayersModel } from "@tensorflow/tfjs-layers";
import type { ModelDefinition } from "../../core/runs/model-definition";
import type { LossFunction } from "./define-training";
import type { Batch, BatchResult } from "./engine";
import { BatchError, ModelError } from "./errors";
import { defaultLoss } from "./losses";
import { callUserCode, describeReturned } from "./user-code";

interface Scored {
  /** Sum of weight × loss over the rows, plus the sum of weight × regularisation. */
  readonly loss: tf.Scalar;
  /** Reads the numbers from the backend. */
  result(): BatchResult;
}

/** Makes one forward pass. Call it within `tf.tidy`. */
export function scoreBatch(model: LayersModel, definition: ModelDefinition, batch: Batch, training: boolean): Scored {
  const { rows } = batch;
  const inputs = tf.tensor(batch.inputs, [rows, ...definition.inputShape]);
  const labels = labelTensor(definition, batch);
  const outputs = model.apply(inputs, { training }) as tf.Tensor;
  const weight = batch.weights ? batch.weights.reduce((total, value) => total + value, 0) : rows;
  const data = sumOverRows(rowLosses(definition, labels, outputs), batch, "loss()");
  const penalties = model.calculateLosses();
  const loss = penalties.length === 0 ? data : tf.add(data, tf.mul(tf.addN(penalties), weight));
  return {
    loss: loss as tf.Scalar,
    result: () => ({
      loss: loss.dataSync()[0] as number,
      weight,
      ...(definition.task === "regression" ? {} : { correct: countCorrect(definition, batch, outputs.dataSync()) }),
      ...metricsOf(definition, batch, labels, outputs),
    }),
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
  const own = definition.type === "module" ? (definition.loss as LossFunction | undefined) : undefined;
  if (!own) return defaultLoss(definition.task)(labels, outputs);
  const value = callUserCode("loss()", () => own(labels, outputs));
  checkTensor(value, "loss()");
  if (value.dtype === "float32") return value;
  throw new ModelError(
    `The training module's loss() returned a tensor of ${value.dtype}; it must be float32 to have a gradient.`,
  );
}

/** Sums a `[rows]` tensor with weights. A scalar is the mean of the rows. */
function sumOverRows(value: tf.Tensor, { rows, weights }: Batch, name: string): tf.Scalar {
  if (value.rank === 1 && value.shape[0] === rows) {
    return tf.sum(weights ? tf.mul(value, tf.tensor1d(weights)) : value) as tf.Scalar;
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

function metricsOf(
  definition: ModelDefinition,
  batch: Batch,
  labels: tf.Tensor,
  outputs: tf.Tensor,
): { readonly metrics?: Readonly<Record<string, number>> } {
  if (definition.type !== "module" || !definition.metrics) return {};
  const entries = Object.entries(definition.metrics as Readonly<Record<string, LossFunction>>).map(([name, metric]) => {
    const what = `metric '${name}'`;
    const value = callUserCode(what, () => metric(labels, outputs));
    checkTensor(value, what);
    const total = sumOverRows(value, batch, what);
    return [name, total.dataSync()[0] as number] as const;
  });
  return { metrics: Object.fromEntries(entries) };
}
