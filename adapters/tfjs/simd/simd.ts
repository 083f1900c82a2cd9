/** The assembled kernels over the memory of the TensorFlow.js backend: no tensor is copied to reach them. */
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import type { TensorInfo } from "@tensorflow/tfjs-core";
import { instantiate, type WasmExports, type WasmFunction, type WasmMemory } from "../../wasm/module";
import { Buffers, type Heap } from "./buffers";
import { microKernels } from "./micro-kernel";
import { packs } from "./pack";
import { poolKernels } from "./pool-kernels";
import { rowKernels } from "./rows";
import { sweeps, tileBytes } from "./sweep";

/** Of the kernels' arithmetic: another version may give other bits. */
export const kernelsVersion = "2";

/** Emscripten's module; its exports hold the memory, which stays the same object as it grows. */
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
  | "filter"
  | "columns";

/** All kernels, for a memory of one's own. */
export const simdFunctions: readonly WasmFunction[] = [
  ...microKernels,
  ...sweeps,
  ...packs,
  ...rowKernels,
  ...poolKernels,
];

/** The kernels over one memory, with room in it. */
export class Simd {
  private readonly scratches: Buffers<ScratchName>;

  /**
   * @param memory the memory's present bytes.
   * @param holds whether an array lies in the memory, so that its `byteOffset` is an address.
   */
  constructor(
    readonly call: WasmExports,
    private readonly heap: Heap,
    private readonly memory: () => ArrayBufferLike,
    readonly holds: (values: Float32Array) => boolean,
  ) {
    this.scratches = this.buffers();
  }

  /** Memory of a new owner. */
  buffers<Name extends string>(): Buffers<Name> {
    return new Buffers(this.heap);
  }

  /** Memory of at least so many bytes, until the next user of the name. */
  scratch(name: ScratchName, bytes: number): number {
    return this.scratches.at(name, bytes);
  }

  /** The scratch tile of the sweeps. */
  tile(): number {
    return this.scratch("tile", tileBytes);
  }

  /** A view, good until the next allocation. */
  floats(at: number, length: number): Float32Array {
    return new Float32Array(this.memory(), at, length);
  }

  /** A table of i32 in scratch. */
  table(name: ScratchName, values: Int32Array): number {
    const at = this.scratch(name, values.byteLength);
    new Int32Array(this.memory(), at, values.length).set(values);
    return at;
  }
}

/** Over the backend's memory, tensors and all. */
export class BackendSimd extends Simd {
  /** @throws Error where the backend does not show its memory, CompileError where the machine has no WebAssembly SIMD. */
  constructor(private readonly backend: BackendWasm) {
    const module = backend.wasm as unknown as EmscriptenModule;
    const memory = module.asm?.memory;
    if (!memory) throw new Error("This version of @tensorflow/tfjs-backend-wasm does not show its memory.");
    const call = instantiate(simdFunctions, { initial: 1, shared: false }, memory);
    super(
      call,
      module,
      () => memory.buffer,
      (values) => values.buffer === memory.buffer,
    );
  }

  /** Where a tensor lies. Allocating moves no tensor. */
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
