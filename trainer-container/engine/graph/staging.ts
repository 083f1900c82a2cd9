import type { ModelDefinition } from "../../../core/runs/model-definition";
import { allocateSum, inSumMemory, releaseSum } from "../../collective/sum-memory";
import { drawKey } from "../draws";
import type { Batch } from "../engine";
import { BatchError } from "../errors";
import type { Operations, TensorId } from "../native/operations";
import type { NativeBinding } from "../native-binding";
import { checkClasses, weightOf } from "../score";
import { inputShapes, type PassShape } from "./passes";

/** Elements of a cache line: TensorFlow shares memory from there on. */
const line = 16;
const padded = (length: number): number => Math.ceil(length / line) * line;

/** The values of a pass's inputs. Its memory is used again in each call. */
export class Staging {
  readonly inputs: Float32Array;
  readonly labels: Float32Array | Int32Array;
  readonly weight: Float32Array;
  readonly keys: Int32Array;
  readonly weights: Float32Array | undefined;
  /** See `PassInputs.lossScale`; only of gradients. */
  readonly lossScale: Float32Array | undefined;
  /** Number of micro-batches that it holds. */
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

  /**
   * Returns the inputs as tensors, in the order of `PassInputs`. Tensors of shared memory stay until `dispose`; others are
   * created in each call.
   */
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
