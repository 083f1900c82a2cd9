/** Memory for sums that WebAssembly can address, its kernels, and the vectors in which sums are staged. */
import { advance, f32, f32x4, i32, local, v128, whileLoop } from "../wasm/instructions";
import {
  createMemory,
  instantiate,
  type MemoryImport,
  pageBytes,
  type WasmExports,
  type WasmFunction,
  type WasmMemory,
} from "../wasm/module";

const [out, a, b, count] = [0, 1, 2, 3];
const lanesATurn = 16;
/** 4 GiB, the range of 32-bit addresses. Shared, because views of it stay valid only then when it grows. */
const sumMemoryLimits: MemoryImport = { initial: 1, maximum: 65_536, shared: true };

const at = local.get;
const addLanes = (offset: number) =>
  v128.store(at(out), f32x4.add(v128.load(at(a), offset), v128.load(at(b), offset)), offset);
const step = (lanes: number) => [
  ...[out, a, b].flatMap((pointer) => advance(pointer, lanes * 4)),
  ...advance(count, -lanes),
];

/** `f32x4.add` rounds each lane like `f32.add`, to nearest even, in the order of the elements: the plain loop's bits. */
const add: WasmFunction = {
  name: "add",
  params: ["i32", "i32", "i32", "i32"],
  body: [
    whileLoop(i32.geU(at(count), i32.const(lanesATurn)), ...[0, 16, 32, 48].map(addLanes), step(lanesATurn)),
    whileLoop(at(count), f32.store(at(out), f32.add(f32.load(at(a)), f32.load(at(b)))), step(1)),
  ],
};

/** Addresses in bytes, below 2³²; `count` float32s. */
type AddKernel = (out: number, a: number, b: number, count: number) => void;

/** @throws if this machine has no WebAssembly SIMD, or cannot reserve 4 GiB of address space */
function createAddKernel(): { readonly memory: WasmMemory; readonly add: AddKernel } {
  const memory = createMemory(sumMemoryLimits);
  const exports = instantiate([add], sumMemoryLimits, memory);
  return { memory, add: exports["add"] as unknown as AddKernel };
}

/** A cache line, so that buffers of different threads and sockets do not share one. */
const alignment = 64;

interface Block {
  readonly at: number;
  readonly bytes: number;
}

/** The kernel's memory, one per process. It is shared memory, because only then do views stay valid when it grows. */
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

/** Returns zeros in the memory of sums if possible, else on the heap: for leaves and sums of the whole training. */
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

/** Other ranks' partial sums of the own segment, by slot; kept from step to step while the mesh exists. */
export class Staging {
  private readonly slots = new Map<number, Float32Array>();

  /** Reserves at least this length. A training alternates between gradients and a few metrics, so the larger buffer stays. */
  reserve(slot: number, length: number): void {
    const present = this.slots.get(slot);
    if (present && present.length >= length) return;
    if (present) releaseSum(present);
    this.slots.set(slot, allocateSum(length));
  }

  get(slot: number): Float32Array {
    return this.slots.get(slot)!;
  }

  release(): void {
    for (const values of this.slots.values()) releaseSum(values);
    this.slots.clear();
  }
}

/** Returns the same memory as bytes, for a socket without a copy. */
export function bytesOf(values: Float32Array, start = 0, end = values.length): Buffer {
  return Buffer.from(values.buffer, values.byteOffset + start * 4, (end - start) * 4);
}
