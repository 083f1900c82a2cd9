import {
  instantiate,
  pageBytes,
  type WasmExports,
  type WasmFunction,
  type WasmMemory,
} from "../../adapters/wasm/module";
import { type AddKernel, createAddKernel, sumMemoryLimits } from "./add-kernel";

/** Cache line: buffers of different threads and sockets do not share one. */
const alignment = 64;

interface Block {
  readonly at: number;
  readonly bytes: number;
}

/**
 * Memory in which the WebAssembly kernel adds without a copy: sockets read into it and write from it as into any other. It is
 * shared memory, because only that grows while views of it stay valid. One a process; what is released is given out again.
 */
class SumMemory {
  /** Every state of the buffer so far: growing makes a new object over the same bytes. */
  private readonly buffers = new WeakSet<ArrayBufferLike>();
  private free: Block[] = [];
  private top = 0;

  private constructor(
    private readonly memory: WasmMemory,
    readonly add: AddKernel,
  ) {
    this.buffers.add(memory.buffer);
  }

  /** `undefined` where there is no WebAssembly SIMD, or no address space to reserve: then JavaScript adds. */
  static create(): SumMemory | undefined {
    try {
      const { memory, add } = createAddKernel();
      return new SumMemory(memory, add);
    } catch {
      return undefined;
    }
  }

  /** All of it, as it is now: growing makes another. */
  get buffer(): ArrayBufferLike {
    return this.memory.buffer;
  }

  holds(values: Float32Array): boolean {
    return this.buffers.has(values.buffer);
  }

  instantiate(functions: readonly WasmFunction[]): WasmExports {
    return instantiate(functions, sumMemoryLimits, this.memory);
  }

  /** Zeros; `undefined` where the memory is full. */
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
 * `length` zeros where additions are fastest, else on the heap. Leaves and sums that live as long as the training are best there;
 * any other buffers are added as well, in JavaScript.
 */
export function allocateSum(length: number): Float32Array {
  return memory?.allocate(length) ?? new Float32Array(length);
}

/** Gives a buffer of `allocateSum` back. Nobody, no socket included, may use it afterwards. */
export function releaseSum(values: Float32Array): void {
  if (memory?.holds(values)) memory.release(values);
}

/** Whether the kernel can add these where they are. */
export function kernelFor(out: Float32Array, a: Float32Array, b: Float32Array): AddKernel | undefined {
  return memory?.holds(out) && memory.holds(a) && memory.holds(b) ? memory.add : undefined;
}

/** Kernels that work in this memory; `undefined` where there is none. */
export function kernelsInSumMemory(functions: readonly WasmFunction[]): WasmExports | undefined {
  return memory?.instantiate(functions);
}

/** The memory's present bytes, whoever allocated in it last; `undefined` where there is none. */
export function sumMemoryBuffer(): ArrayBufferLike | undefined {
  return memory?.buffer;
}

/** Whether such kernels can work on these where they are. */
export function inSumMemory(...arrays: readonly Float32Array[]): boolean {
  return memory !== undefined && arrays.every((values) => memory.holds(values));
}
