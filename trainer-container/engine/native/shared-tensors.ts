/**
 * TensorFlow takes a JavaScript array's memory for a tensor as it is where it is aligned to a cache line: what is written there later is
 * what the tensor holds. Weights go in by one copy that way, and gradients come out by one, without a new array for each.
 */
import { allocateSum, inSumMemory, releaseSum } from "../../collective/sum-memory";
import type { ParameterSlot } from "../engine";
import type { NativeBinding } from "../native-binding";
import type { OpAttribute } from "./op";
import type { Operations, TensorId } from "./operations";

const alignment = 64;
/** Below this, reading an array is as fast. */
const worthSharing = 4_096;

const isAligned = (values: Float32Array): boolean => values.byteOffset % alignment === 0;

/** The weights of a model as tensors. */
export class WeightTensors {
  private readonly memory: Float32Array;
  private readonly views: readonly Float32Array[];
  private ids: readonly TensorId[];

  constructor(
    private readonly binding: NativeBinding,
    private readonly layout: readonly ParameterSlot[],
  ) {
    const elements = alignment / Float32Array.BYTES_PER_ELEMENT;
    const padded = layout.map(({ size }) => Math.ceil(size / elements) * elements);
    this.memory = allocateSum(padded.reduce((total, size) => total + size, 0));
    let at = 0;
    this.views = layout.map(({ size }, index) => {
      const view = this.memory.subarray(at, at + size);
      at += padded[index] as number;
      return view;
    });
    this.ids = this.create();
  }

  private create(): readonly TensorId[] {
    const { binding, views } = this;
    return this.layout.map(({ shape }, index) =>
      binding.createTensor(shape, binding.TF_FLOAT, views[index] as Float32Array),
    );
  }

  /** Of the slot with that index; others after `write`, where memory is not shared. */
  id(slot: number): TensorId {
    return this.ids[slot] as TensorId;
  }

  /** Its values, until the next `write`. */
  view(slot: number): Float32Array {
    return this.views[slot] as Float32Array;
  }

  write(from: Float32Array): void {
    this.layout.forEach(({ offset, size }, index) => {
      this.views[index]?.set(from.subarray(offset, offset + size));
    });
    if (inSumMemory(this.memory)) return;
    // That memory was full. Elsewhere alignment is luck, and tensors may be copies: they are made anew.
    this.deleteTensors();
    this.ids = this.create();
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

interface Sink {
  readonly buffer: ArrayBufferLike;
  readonly size: number;
  readonly id: TensorId;
}

/**
 * Copies tensors into arrays. Into aligned places of the memory where leaves lie it is TensorFlow that copies, by an operation that writes
 * into its input (`InplaceUpdate`): a quarter of the time that a new array and a copy of it take.
 */
export class TensorReader {
  /** By place in memory; leaves are few and used again at every step. */
  private readonly sinks = new Map<number, Sink>();
  private readonly attributes: readonly OpAttribute[];

  constructor(
    private readonly binding: NativeBinding,
    private readonly operations: Operations,
  ) {
    this.attributes = [{ name: "T", type: binding.TF_ATTR_TYPE, value: binding.TF_FLOAT }];
  }

  copy(id: TensorId, into: Float32Array): void {
    const { operations } = this;
    if (into.length < worthSharing || !isAligned(into) || !inSumMemory(into)) {
      into.set(operations.read(id));
      return;
    }
    const reshape = [
      ...this.attributes,
      { name: "Tshape", type: this.binding.TF_ATTR_TYPE, value: this.binding.TF_INT32 },
    ];
    const row = operations.run("Reshape", reshape, [id, operations.integers([1, into.length])]);
    operations.run("InplaceUpdate", this.attributes, [this.sinkOf(into), operations.integers([0]), row]);
  }

  private sinkOf(into: Float32Array): TensorId {
    const known = this.sinks.get(into.byteOffset);
    if (known?.buffer === into.buffer && known.size === into.length) return known.id;
    if (known) this.binding.deleteTensor(known.id);
    const id = this.binding.createTensor([1, into.length], this.binding.TF_FLOAT, into);
    this.sinks.set(into.byteOffset, { buffer: into.buffer, size: into.length, id });
    return id;
  }

  dispose(): void {
    for (const { id } of this.sinks.values()) this.binding.deleteTensor(id);
    this.sinks.clear();
  }
}

/** Whether this library shares memory and copies in place, tried on a few elements. */
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
