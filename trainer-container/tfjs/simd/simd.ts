/** The assembled kernels over the memory of the TensorFlow.js backend. They use tensors in place. */
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import type { TensorInfo } from "@tensorflow/tfjs-core";
import { instantiate, type WasmExports, type WasmFunction, type WasmMemory } from "../../wasm/module";
import { microKernels, packs } from "./gemm-kernels";
import { lstmKernels } from "./lstm-kernels";
import { rowKernels, sweeps, tileBytes } from "./row-kernels";
import { depthwiseKernels, poolKernels } from "./window-kernels";

/** The used part of Emscripten's module. */
export interface Heap {
  _malloc(bytes: number): number;
  _free(at: number): void;
}

/** WebAssembly's memory has no space for a tensor or a buffer. */
export class WasmMemoryError extends RangeError {
  constructor(bytes: number) {
    super(`The WebAssembly heap has no ${bytes} bytes left.`);
  }
}

/** The bytes of a cache line. Every buffer starts at one. */
const line = 64;

/** Named buffers on the backend's heap, of the largest size requested. An allocation moves only the one that grows. */
export class Buffers<Name extends string> {
  private readonly held = new Map<Name, { readonly bytes: number; readonly malloc: number }>();

  constructor(private readonly heap: Heap) {}

  /** @returns the buffer's address, which changes only when a larger size is requested; the content is then lost */
  at(name: Name, bytes: number): number {
    const block = this.held.get(name);
    if (block && block.bytes >= bytes) return aligned(block.malloc);
    if (block) this.heap._free(block.malloc);
    this.held.delete(name);
    const malloc = this.heap._malloc(bytes + line) >>> 0;
    if (malloc === 0) throw new WasmMemoryError(bytes);
    this.held.set(name, { bytes, malloc });
    return aligned(malloc);
  }

  dispose(): void {
    for (const { malloc } of this.held.values()) this.heap._free(malloc);
    this.held.clear();
  }
}

const aligned = (at: number): number => Math.ceil(at / line) * line;

/** The version of the arithmetic of the kernels and of the trainer's gradients. Another version may compute other bits. */
export const kernelsVersion = "16";

/** Emscripten's module. Its exports contain the memory, which stays the same object when it grows. */
interface EmscriptenModule extends Heap {
  readonly asm?: { readonly memory?: WasmMemory };
}

type ScratchName =
  | "a"
  | "b"
  | "tail"
  | "tile"
  | "positions"
  | "patch"
  | "taps"
  | "image"
  | "one"
  | "sums"
  | "filter"
  | "columns"
  | "recurrent"
  | "state";

export const simdFunctions: readonly WasmFunction[] = [
  ...microKernels,
  ...sweeps,
  ...packs,
  ...rowKernels,
  ...poolKernels,
  ...depthwiseKernels,
  ...lstmKernels,
];

export class Simd {
  private readonly scratches: Buffers<ScratchName>;

  /**
   * @param memory returns the memory's current bytes; `holds` tells whether an array's `byteOffset` is an address in it
   */
  constructor(
    readonly call: WasmExports,
    private readonly heap: Heap,
    private readonly memory: () => ArrayBufferLike,
    readonly holds: (values: Float32Array) => boolean,
  ) {
    this.scratches = this.buffers();
  }

  buffers<Name extends string>(): Buffers<Name> {
    return new Buffers(this.heap);
  }

  /** Returns at least that many bytes of scratch memory, valid until the next use of the name. */
  scratch(name: ScratchName, bytes: number): number {
    return this.scratches.at(name, bytes);
  }

  tile(): number {
    return this.scratch("tile", tileBytes);
  }

  /** Returns a view, valid until the next allocation. */
  floats(at: number, length: number): Float32Array {
    return new Float32Array(this.memory(), at, length);
  }

  table(name: ScratchName, values: Int32Array): number {
    const at = this.scratch(name, values.byteLength);
    new Int32Array(this.memory(), at, values.length).set(values);
    return at;
  }
}

/** Returns the backend's memory. @throws Error if the backend does not expose it */
export function memoryOf(backend: BackendWasm): WasmMemory {
  const { memory } = (backend.wasm as unknown as EmscriptenModule).asm ?? {};
  if (!memory) throw new Error("This version of @tensorflow/tfjs-backend-wasm does not expose its memory.");
  return memory;
}

/** The kernels over the memory of the backend, which contains the tensors. */
export class BackendSimd extends Simd {
  /** @throws Error if the backend does not expose its memory, CompileError if the machine has no WebAssembly SIMD */
  constructor(private readonly backend: BackendWasm) {
    const memory = memoryOf(backend);
    const call = instantiate(simdFunctions, { initial: 1, shared: false }, memory);
    super(
      call,
      backend.wasm as unknown as EmscriptenModule,
      () => memory.buffer,
      (values) => values.buffer === memory.buffer,
    );
  }

  /** Returns the address of a tensor. An allocation moves no tensor. */
  address(tensor: TensorInfo): number {
    return this.backend.getMemoryOffset(tensor.dataId);
  }
}

const instances = new WeakMap<BackendWasm, BackendSimd>();

export function simdOf(backend: BackendWasm): BackendSimd {
  const cached = instances.get(backend);
  if (cached) return cached;
  const simd = new BackendSimd(backend);
  instances.set(backend, simd);
  return simd;
}
