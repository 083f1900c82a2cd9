/** A model's passes as operations of the tape, ready to be recorded. */
import * as tf from "@tensorflow/tfjs-core";
import type { ModelDefinition } from "../../../core/runs/model-definition";
import { allocateSum, inSumMemory, releaseSum } from "../../kernels/sum-memory";
import { drawKey } from "../draws";
import type { Batch } from "../engine";
import { BatchError } from "../errors";
import type { Differentiated, LayersTrainable } from "../layers-trainable";
import type { Operations, TensorId } from "../native/operations";
import type { NativeBinding } from "../native-binding";
import { type BatchTensors, checkClasses, correctRows, type Scored, weightOf } from "../score";

export interface PassShape {
  readonly kind: "gradients" | "evaluation";
  /** Rows of a micro-batch. */
  readonly rows: number;
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
   * `[micro-batches, numbers]`: loss, metrics, the count of correct rows if counted; then the gradient, `[1,
   * parameters]`.
   */
  readonly results: readonly tf.Tensor[];
  /** The gradient of each slot of the layout, flat; none for an evaluation. */
  readonly gradients: readonly tf.Tensor[];
  readonly metrics: readonly string[];
}

const flat = (tensors: readonly tf.Tensor[]): tf.Tensor => tf.concat1d(tensors.map((each) => tf.reshape(each, [-1])));

/** Computes a pass on the tape, within `tf.tidy`. `addTerms` adds vectors in the canonical order. */
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

/** Elements of a cache line: TensorFlow shares memory from there on. */
const line = 16;
const padded = (length: number): number => Math.ceil(length / line) * line;

export class Staging {
  readonly inputs: Float32Array;
  readonly labels: Float32Array | Int32Array;
  readonly weight: Float32Array;
  readonly keys: Int32Array;
  readonly weights: Float32Array | undefined;
  /** See `PassInputs.lossScale`; only of gradients. */
  readonly lossScale: Float32Array | undefined;
  filled = 0;
  private readonly memory: Float32Array;
  /** Tensors that share the memory. */
  private tensors: readonly TensorId[] | undefined;

  constructor(
    private readonly definition: ModelDefinition,
    readonly shape: PassShape,
  ) {
    const { kind, microBatches, rows, weighted } = shape;
    const { inputShape, outputs, task } = definition;
    const total = microBatches * rows;
    const lengths = [
      inputShape.reduce((product, side) => product * side, total),
      task === "regression" ? total * outputs : total,
      microBatches,
      2 * microBatches,
      weighted ? total : 0,
      kind === "gradients" ? 1 : 0,
    ] as const;
    this.memory = allocateSum(lengths.reduce((sum, length) => sum + padded(length), 0));
    let at = 0;
    const floats = (length: number): Float32Array => {
      const part = this.memory.subarray(at, at + length);
      at += padded(length);
      return part;
    };
    const integers = (length: number): Int32Array => {
      const { buffer, byteOffset } = floats(length);
      return new Int32Array(buffer, byteOffset, length);
    };
    this.inputs = floats(lengths[0]);
    this.labels = task === "classification" ? integers(lengths[1]) : floats(lengths[1]);
    this.weight = floats(lengths[2]);
    this.keys = integers(lengths[3]);
    this.weights = weighted ? floats(lengths[4]) : undefined;
    this.lossScale = kind === "gradients" ? floats(lengths[5]) : undefined;
  }

  /** Returns the inputs in the order of `PassInputs`. Tensors of shared memory stay until `dispose`. */
  feeds(binding: NativeBinding, operations: Operations, sharing: boolean): readonly TensorId[] {
    const { inputs, labels, weight, keys, weights, lossScale } = inputShapes(this.definition, this.shape);
    const parts = [
      [inputs, this.inputs],
      [labels, this.labels],
      [weight, this.weight],
      [keys, this.keys],
      ...(this.weights === undefined ? [] : [[weights, this.weights] as const]),
      ...(this.lossScale === undefined ? [] : [[lossScale, this.lossScale] as const]),
    ] as const;
    if (!sharing || !inSumMemory(this.memory)) return parts.map(([shape, values]) => operations.tensor(shape, values));
    this.tensors ??= parts.map(([shape, values]) =>
      binding.createTensor(shape, values instanceof Int32Array ? binding.TF_INT32 : binding.TF_FLOAT, values),
    );
    return this.tensors;
  }

  /** @throws BatchError for a label that is not a class, or for weights that the pass does not take */
  add(batch: Batch, randomKey: string): void {
    const { definition, filled } = this;
    if (definition.task === "classification") checkClasses(definition, batch.labels);
    if (batch.weights !== undefined && !this.shape.weighted) {
      throw new BatchError("A batch has row weights, but this pass has none; compute it alone, without a sum.");
    }
    this.inputs.set(batch.inputs, filled * batch.inputs.length);
    this.labels.set(batch.labels, filled * batch.labels.length);
    this.weight[filled] = weightOf(batch);
    this.keys.set(drawKey(randomKey), 2 * filled);
    if (batch.weights) this.weights?.set(batch.weights, filled * batch.rows);
    this.filled += 1;
  }

  /** Returns the first rows of the only micro-batch in memory of their own. */
  head(rows: number): Staging {
    const head = new Staging(this.definition, { ...this.shape, rows });
    const parts = [
      [head.inputs, this.inputs],
      [head.labels, this.labels],
      [head.weights, this.weights],
    ] as const;
    for (const [into, from] of parts) if (into && from) into.set(from.subarray(0, into.length));
    head.keys.set(this.keys);
    head.weight[0] = weightOf(head.batch(0));
    head.filled = 1;
    return head;
  }

  /** Takes one micro-batch of another staging instead of its own. */
  copy(other: Staging, index: number): void {
    const { inputs, labels } = other.batch(index);
    this.inputs.set(inputs);
    this.labels.set(labels);
    this.weight.set(other.weight.subarray(index, index + 1));
    this.keys.set(other.keys.subarray(2 * index, 2 * index + 2));
  }

  /** Returns one micro-batch. Its arrays are valid until the next call. */
  batch(index: number): Batch {
    const { rows, microBatches } = this.shape;
    const part = <T extends Float32Array | Int32Array>(values: T): T => {
      const length = values.length / microBatches;
      return values.subarray(index * length, (index + 1) * length) as T;
    };
    return {
      rows,
      inputs: part(this.inputs),
      labels: part(this.labels),
      ...(this.weights === undefined ? {} : { weights: part(this.weights) }),
    };
  }

  dispose(binding: NativeBinding): void {
    for (const id of this.tensors ?? []) binding.deleteTensor(id);
    this.tensors = undefined;
    releaseSum(this.memory);
  }
}
