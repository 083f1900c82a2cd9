import type { NativeBinding } from "../native-binding";
import type { OpAttribute } from "./op";

/** A tensor of the binding, by its number. */
export type TensorId = number;

/**
 * Calls TensorFlow's operations one by one, without TensorFlow.js: 5 µs each instead of about 20, and without a tape. Every
 * created tensor lives until `release`.
 */
export class Operations {
  private live: TensorId[] = [];
  private readonly constants = new Map<string, TensorId>();

  constructor(private readonly binding: NativeBinding) {}

  run(op: string, attributes: readonly OpAttribute[], inputs: readonly TensorId[]): TensorId {
    return this.runFor(op, attributes, inputs, 1)[0] as TensorId;
  }

  runFor(op: string, attributes: readonly OpAttribute[], inputs: readonly TensorId[], outputs: number): TensorId[] {
    const ids = this.binding.executeOp(op, attributes, inputs, outputs).map(({ id }) => id);
    this.live.push(...ids);
    return ids;
  }

  /** Shares the memory of `values` if it is aligned: they must not change until `release`. */
  tensor(shape: readonly number[], values: Float32Array | Int32Array): TensorId {
    const { TF_FLOAT, TF_INT32 } = this.binding;
    const id = this.binding.createTensor(shape, values instanceof Int32Array ? TF_INT32 : TF_FLOAT, values);
    this.live.push(id);
    return id;
  }

  /** Class indices of a batch. */
  indices(labels: ArrayLike<number>): TensorId {
    const id = this.binding.createTensor([labels.length], this.binding.TF_INT32, Int32Array.from(labels));
    this.live.push(id);
    return id;
  }

  /** Returns a list of whole numbers, e.g. a shape; kept until `dispose`. */
  integers(values: readonly number[]): TensorId {
    const key = values.join();
    let id = this.constants.get(key);
    if (id === undefined) {
      id = this.binding.createTensor([values.length], this.binding.TF_INT32, Int32Array.from(values));
      this.constants.set(key, id);
    }
    return id;
  }

  /** Takes over tensors that were created elsewhere. */
  adopt(ids: readonly TensorId[]): void {
    this.live.push(...ids);
  }

  read(id: TensorId): Float32Array {
    return this.binding.tensorDataSync(id) as Float32Array;
  }

  release(): void {
    for (const id of this.live) this.binding.deleteTensor(id);
    this.live = [];
  }

  dispose(): void {
    this.release();
    for (const id of this.constants.values()) this.binding.deleteTensor(id);
    this.constants.clear();
  }
}
