import {
  instantiate,
  pageBytes,
  type WasmExports,
  type WasmFunction,
  type WasmMemory,
} from "../../adapters/wasm/module";
import { type AddKernel, createAddKernel, sumMemoryLimits } from "./add-kernel";

/** A cache line, so that buffers of different threads and sockets do not share one. */
const alignment = 64;

interface Block {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Memory in which the WebAssembly kernel adds without a copy. Sockets read into it and write from it as usual. It is shared
 * memory, because views of it stay valid only then when it grows. There is one per process. Released ranges are reused.
 */
class SumMemory {
  /** All buffer objects so far: growing makes a new object over the same bytes. */
  private readonly buffers = new WeakSet<ArrayBufferLike>();
  private free: Block[] = [];
  private top = 0;

  private constructor(
    private readonly memory: WasmMemory,
    readonly add: AddKernel,
  ) {
    this.buffers.add(memory.buffer);
  }

  /** `undefined` without WebAssembly SIMD, or without address space to reserve: then JavaScript adds. */
  static create(): SumMemory | undefined {
    try {
      const { memory, add } = createAddKernel();
      return new SumMemory(memory, add);
    } catch {
      return undefined;
    }
  }

  /** The current buffer object. Growing makes another. */
  get buffer(): ArrayBufferLike {
    return this.memory.buffer;
  }

  holds(values: Float32Array): boolean {
    return this.buffers.has(values.buffer);
  }

  instantiate(functions: readonly WasmFunction[]): WasmExports {
    return instantiate(functions, sumMemoryLimits, this.memory);
  }

  /** Returns zeros; `undefined` if the memory is full. */
  allocate(length: number): Float32Array | undefined {
    const bytes = Math.max(1, Math.ceil((length * 4) / alignment)) * alignment;
    const at = this.reuse(bytes) ?? this.extend(bytes);
    if (at === undefined) return undefined;
    return new Float32Array(this.memory.buffer, at, length).fill(0);
  }

  release(values: Float32Array): void {
    const bytes = Math.max(1, Math.ceil(values.byteLength / alignment)) * alignment;
    const blocks = [...this.free, { at: values.byteOffset, bytes }].sort((x, y) => x.at - y.at);
    const merged: Block[] = [];
    for (const block of blocks) {
      const last = merged.at(-1);
      if (last && last.at + last.bytes === block.at)
        merged.splice(-1, 1, { at: last.at, bytes: last.bytes + block.bytes });
      else merged.push(block);
    }
    this.free = merged;
  }

  private reuse(bytes: number): number | undefined {
    const index = this.free.findIndex((block) => block.bytes >= bytes);
    const block = this.free[index];
    if (block === undefined) return undefined;
    const rest = { at: block.at + bytes, bytes: block.bytes - bytes };
    this.free.splice(index, 1, ...(rest.bytes > 0 ? [rest] : []));
    return block.at;
  }

  private extend(bytes: number): number | undefined {
    const missing = this.top + bytes - this.memory.buffer.byteLength;
    if (missing > 0) {
      try {
        this.memory.grow(Math.ceil(missing / pageBytes));
      } catch {
        return undefined;
      }
      this.buffers.add(this.memory.buffer);
    }
    const at = this.top;
    this.top += bytes;
    return at;
  }
}

const memory = SumMemory.create();

/**
 * Returns `length` zeros in the memory of sums if possible, otherwise on the heap. Use it for leaves and sums that exist as
 * long as the training. Other buffers are also added, in JavaScript.
 */
export function allocateSum(length: number): Float32Array {
  return memory?.allocate(length) ?? new Float32Array(length);
}

/** Releases a buffer of `allocateSum`. No code and no socket may use it afterwards. */
export function releaseSum(values: Float32Array): void {
  if (memory?.holds(values)) memory.release(values);
}

/** Returns the kernel that can add these arrays in place, if there is one. */
export function kernelFor(out: Float32Array, a: Float32Array, b: Float32Array): AddKernel | undefined {
  return memory?.holds(out) && memory.holds(a) && memory.holds(b) ? memory.add : undefined;
}

/** Compiles kernels that work in this memory; `undefined` if there is none. */
export function kernelsInSumMemory(functions: readonly WasmFunction[]): WasmExports | undefined {
  return memory?.instantiate(functions);
}

/** Returns the memory's current bytes; `undefined` if there is none. */
export function sumMemoryBuffer(): ArrayBufferLike | undefined {
  return memory?.buffer;
}

/** Whether such kernels can work on these arrays in place. */
export function inSumMemory(...arrays: readonly Float32Array[]): boolean {
  return memory !== undefined && arrays.every((values) => memory.holds(values));
}
