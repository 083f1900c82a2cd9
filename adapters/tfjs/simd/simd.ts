/** The assembled kernels over the memory of the TensorFlow.js backend. They use tensors in place. */
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import type { TensorInfo } from "@tensorflow/tfjs-core";
import { instantiate, type WasmExports, type WasmFunction, type WasmMemory } from "../../wasm/module";
import { Buffers, type Heap } from "./buffers";
import { depthwiseKernels } from "./depthwise-kernels";
import { lstmKernels } from "./lstm-kernels";
import { microKernels } from "./micro-kernel";
import { packs } from "./pack";
import { poolKernels } from "./pool-kernels";
import { rowKernels } from "./rows";
import { sweeps, tileBytes } from "./sweep";

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

/** All kernels, for a separate memory. */
export const simdFunctions: readonly WasmFunction[] = [
  ...microKernels,
  ...sweeps,
  ...packs,
  ...rowKernels,
  ...poolKernels,
  ...depthwiseKernels,
  ...lstmKernels,
];

/** The kernels over one memory, with scratch buffers in it. */
export class Simd {
  private readonly scratches: Buffers<ScratchName>;

  /**
   * Creates the kernels.
   * @param memory returns the current bytes of the memory
   * @param holds returns whether an array is in the memory, so that its `byteOffset` is an address
   */
  constructor(
    readonly call: WasmExports,
    private readonly heap: Heap,
    private readonly memory: () => ArrayBufferLike,
    readonly holds: (values: Float32Array) => boolean,
  ) {
    this.scratches = this.buffers();
  }

  /** Creates the buffers of a new owner. */
  buffers<Name extends string>(): Buffers<Name> {
    return new Buffers(this.heap);
  }

  /** Returns at least that many bytes of scratch memory, valid until the next use of the name. */
  scratch(name: ScratchName, bytes: number): number {
    return this.scratches.at(name, bytes);
  }

  /** Returns the scratch tile of the sweeps. */
  tile(): number {
    return this.scratch("tile", tileBytes);
  }

  /** Returns a view, valid until the next allocation. */
  floats(at: number, length: number): Float32Array {
    return new Float32Array(this.memory(), at, length);
  }

  /** Writes a table of i32 to scratch memory. */
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
  /**
   * Creates the kernels.
   * @throws Error if the backend does not expose its memory, CompileError if the machine has no WebAssembly SIMD
   */
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
  const known = instances.get(backend);
  if (known) return known;
  const simd = new BackendSimd(backend);
  instances.set(backend, simd);
  return simd;
}
