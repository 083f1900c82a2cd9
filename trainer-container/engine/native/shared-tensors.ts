/** TensorFlow uses a cache-line-aligned array's memory as the tensor: later writes to the array change the tensor. */
import { allocateSum, inSumMemory, releaseSum } from "../../kernels/sum-memory";
import type { ParameterSlot } from "../engine";
import type { NativeBinding } from "../native-binding";
import type { OpAttribute, Operations, TensorId } from "./operations";

const alignment = 64;
/** Below this size, reading an array is as fast. */
const worthSharing = 4_096;

const isAligned = (values: Float32Array): boolean => values.byteOffset % alignment === 0;

const elementsALine = alignment / Float32Array.BYTES_PER_ELEMENT;
const padded = (size: number): number => Math.ceil(size / elementsALine) * elementsALine;

export class WeightTensors {
  private readonly memory: Float32Array;
  private readonly ownViews: readonly Float32Array[];
  /** The values of each slot: in this object's memory, or in shared memory. */
  private views: readonly Float32Array[];
  private shared: Float32Array | undefined;
  private ids: readonly TensorId[];

  constructor(
    private readonly binding: NativeBinding,
    private readonly layout: readonly ParameterSlot[],
    private readonly sharing = true,
  ) {
    this.memory = allocateSum(layout.reduce((total, { size }) => total + padded(size), 0));
    let at = 0;
    this.ownViews = layout.map(({ size }) => {
      const view = this.memory.subarray(at, at + size);
      at += padded(size);
      return view;
    });
    this.views = this.ownViews;
    this.ids = this.create();
  }

  private create(): readonly TensorId[] {
    const { binding, views } = this;
    return this.layout.map(({ shape }, index) =>
      binding.createTensor(shape, binding.TF_FLOAT, views[index] as Float32Array),
    );
  }

  /** Returns the tensor of a slot. After `write` it is another one if memory is not shared. */
  id(slot: number): TensorId {
    return this.ids[slot] as TensorId;
  }

  /** Returns the values of a slot until the next `write`. */
  view(slot: number): Float32Array {
    return this.views[slot] as Float32Array;
  }

  /** Makes tensors of the slots that begin on a cache line of `memory`. The others are copied at each `write`. */
  share(memory: Float32Array): void {
    if (!this.sharing || !inSumMemory(memory, this.memory)) return;
    this.shared = memory;
    this.place(
      this.layout.map(({ offset, size }, index) => {
        const there = memory.subarray(offset, offset + size);
        return isAligned(there) ? there : (this.ownViews[index] as Float32Array);
      }),
    );
    this.write(memory);
  }

  private place(views: readonly Float32Array[]): void {
    this.deleteTensors();
    this.views = views;
    this.ids = this.create();
  }

  write(from: Float32Array): void {
    if (this.shared && this.shared !== from) {
      this.shared = undefined; // the memory belongs to another caller
      this.place(this.ownViews);
    }
    this.layout.forEach(({ offset, size }, index) => {
      const view = this.views[index] as Float32Array;
      if (this.shared === undefined || view === this.ownViews[index]) view.set(from.subarray(offset, offset + size));
    });
    // The memory of sums was full. Elsewhere alignment is not guaranteed, so tensors may be copies and are made again.
    if (!this.sharing || !inSumMemory(this.memory)) this.place(this.ownViews);
  }

  read(into: Float32Array): void {
    this.layout.forEach(({ offset }, index) => {
      into.set(this.views[index] as Float32Array, offset);
    });
  }

  dispose(): void {
    this.deleteTensors();
    releaseSum(this.memory);
  }

  private deleteTensors(): void {
    for (const id of this.ids) this.binding.deleteTensor(id);
  }
}

interface SharedTensor {
  readonly buffer: ArrayBufferLike;
  readonly size: number;
  readonly id: TensorId;
}

/** Moves values between tensors and arrays. `InplaceUpdate` writes into shared memory in a quarter of a copy's time. */
export class TensorReader {
  /** By position in memory; there are few leaves, and they are reused at every step. */
  private readonly sinks = new Map<number, SharedTensor>();
  private readonly fed = new Map<number, SharedTensor>();
  private readonly attributes: readonly OpAttribute[];

  constructor(
    private readonly binding: NativeBinding,
    private readonly operations: Operations,
    private readonly sharing = true,
  ) {
    this.attributes = [{ name: "T", type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT }];
  }

  copy(id: TensorId, into: Float32Array): void {
    const { operations } = this;
    const sink = this.sink(into);
    if (sink === undefined) {
      into.set(operations.read(id));
      return;
    }
    const reshape = [
      ...this.attributes,
      { name: "Tshape", type: this.binding.TF_ATTR_TYPE, value: this.binding.TF_INT32 },
    ];
    const row = operations.run("Reshape", reshape, [id, operations.integers([1, into.length])]);
    operations.run("InplaceUpdate", this.attributes, [sink, operations.integers([0]), row]);
  }

  /** Returns a tensor of the shape `[1, elements]` for `InplaceUpdate`, which then writes to the array; undefined: none can. */
  sink(into: Float32Array): TensorId | undefined {
    if (!this.sharing || into.length < worthSharing || !isAligned(into) || !inSumMemory(into)) return undefined;
    return this.sharedTensor(this.sinks, [1, into.length], into);
  }

  /** Returns a tensor with the present values of an array, until `Operations.release`. It may share the array's memory. */
  feed(shape: readonly number[], values: Float32Array): TensorId {
    const shared = this.sharing && isAligned(values) && inSumMemory(values);
    return shared ? this.sharedTensor(this.fed, shape, values) : this.operations.tensor(shape, values);
  }

  private sharedTensor(known: Map<number, SharedTensor>, shape: readonly number[], values: Float32Array): TensorId {
    const { buffer, byteOffset, length } = values;
    const last = known.get(byteOffset);
    if (last?.buffer === buffer && last.size === length) return last.id;
    if (last) this.binding.deleteTensor(last.id);
    const id = this.binding.createTensor(shape, this.binding.TF_FLOAT, values);
    known.set(byteOffset, { buffer, size: length, id });
    return id;
  }

  dispose(): void {
    for (const tensors of [this.sinks, this.fed]) {
      for (const { id } of tensors.values()) this.binding.deleteTensor(id);
      tensors.clear();
    }
  }
}

/** Whether this library shares memory and copies in place, tested on a few elements. */
export function sharesMemory(binding: NativeBinding, operations: Operations): boolean {
  const memory = allocateSum(2 * worthSharing);
  if (!inSumMemory(memory)) return false;
  const reader = new TensorReader(binding, operations);
  try {
    const from = memory.subarray(0, worthSharing);
    const into = memory.subarray(worthSharing);
    const source = operations.tensor([worthSharing], from);
    from.fill(3);
    reader.copy(source, into);
    return into.every((value) => value === 3);
  } catch {
    return false;
  } finally {
    operations.dispose();
    reader.dispose();
    releaseSum(memory);
  }
}
