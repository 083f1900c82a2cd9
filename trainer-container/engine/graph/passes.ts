/** A model's passes as operations of the tape, ready to be recorded. */
import * as tf from "@tensorflow/tfjs-core";
import type { ModelDefinition } from "../../../core/runs/model-definition";
import type { Differentiated, LayersTrainable } from "../layers-trainable";
import { type BatchTensors, correctRows, type Scored } from "../score";

export interface PassShape {
  readonly kind: "gradients" | "evaluation";
  /** Rows of a micro-batch. */
  readonly rows: number;
  /** Whether rows have weights. */
  readonly weighted: boolean;
  /** Number of micro-batches. More than one: the sum of their gradients. */
  readonly microBatches: number;
}

/** Returns a name that only passes of the same shape have. */
export const nameOf = ({ kind, rows, weighted, microBatches }: PassShape): string =>
  `${kind} of ${microBatches} × ${rows} rows${weighted ? " with weights" : ""}`;

/** The tensors of a pass that change from call to call, without the model's weights. */
export interface PassInputs {
  /** `[micro-batches × rows, ...inputShape]`. */
  readonly inputs: tf.Tensor;
  /** `[micro-batches × rows, …]`. */
  readonly labels: tf.Tensor;
  /** Sum of the rows' weights of each micro-batch, `[microBatches]`. */
  readonly weight: tf.Tensor;
  /** int32 `[micro-batches, 2]`, see `withDraws`. */
  readonly keys: tf.Tensor;
  /** Rows' weights, `[micro-batches × rows]`. */
  readonly weights?: tf.Tensor;
  /** Factor of the loss when it is differentiated, `[1]`. */
  readonly lossScale?: tf.Tensor;
  /** int32 `[1]` with −1: the shape of a vector, which a graph does not know before it runs. */
  readonly vector: tf.Tensor;
}

export interface Traced {
  /**
   * `[micro-batches, numbers]`: of each micro-batch the loss, the metrics and the number of correct rows, if they are counted.
   * Then the gradient, `[1, parameters]`.
   */
  readonly results: readonly tf.Tensor[];
  /** The gradient of each slot of the layout, flat; none for an evaluation. */
  readonly gradients: readonly tf.Tensor[];
  /** Names of the metrics. */
  readonly metrics: readonly string[];
}

const flat = (tensors: readonly tf.Tensor[]): tf.Tensor => tf.concat1d(tensors.map((each) => tf.reshape(each, [-1])));

/**
 * Computes a pass on the tape. Call it within `tf.tidy`.
 *
 * @param addTerms adds vectors in the canonical order
 */
export function trace(
  layers: LayersTrainable,
  { kind, rows, microBatches }: PassShape,
  inputs: PassInputs,
  addTerms: (terms: readonly tf.Tensor[]) => tf.Tensor,
): Traced {
  const batches = Array.from({ length: microBatches }, (_, index) => batchOf(inputs, rows, microBatches, index));
  const all = batches.map((batch, index): Scored & Partial<Differentiated> => {
    if (kind === "evaluation") return layers.score(batch);
    return layers.differentiate(batch, tf.reshape(slice(inputs.keys, index, 1), [2]), inputs.lossScale);
  });
  const metrics = Object.keys((all[0] as Scored).metrics);
  const numbersOf = ({ loss, metrics, outputs }: Scored, index: number): tf.Tensor => {
    const correct = correctRows(layers.definition, batches[index] as BatchTensors, outputs);
    return flat([loss, ...Object.values(metrics), ...(correct ? [correct] : [])]);
  };
  const numbers = tf.stack(all.map(numbersOf));
  if (kind === "evaluation") return { results: [numbers], gradients: [], metrics };
  const gradients = layers.layout.map(({ size }, slot) => {
    const terms = all.map((each) => tf.reshape(each.gradients?.[slot] ?? tf.zeros([size]), [-1]));
    return microBatches === 1 ? (terms[0] as tf.Tensor) : addTerms(terms);
  });
  return { results: [numbers, tf.reshape(flat(gradients), [1, -1])], gradients, metrics };
}

function batchOf(all: PassInputs, rows: number, microBatches: number, index: number): BatchTensors {
  const part = (tensor: tf.Tensor): tf.Tensor => (microBatches === 1 ? tensor : slice(tensor, index * rows, rows));
  return {
    rows,
    inputs: part(all.inputs),
    labels: part(all.labels),
    ...(all.weights === undefined ? {} : { weights: part(all.weights) }),
    weight: tf.reshape(slice(all.weight, index, 1), []),
  };
}

function slice(tensor: tf.Tensor, first: number, count: number): tf.Tensor {
  const [, ...rest] = tensor.shape;
  return tf.slice(tensor, [first, ...rest.map(() => 0)], [count, ...rest]);
}

/** Returns the shapes of a pass's inputs, in the order of `PassInputs`. */
export function inputShapes(definition: ModelDefinition, { rows, microBatches }: PassShape) {
  const total = rows * microBatches;
  return {
    inputs: [total, ...definition.inputShape],
    labels: definition.task === "regression" ? [total, definition.outputs] : [total],
    weight: [microBatches],
    keys: [microBatches, 2],
    weights: [total],
    lossScale: [1],
  } as const;
}
