/** The assembled kernels over the memory of the TensorFlow.js backend: no tensor is copied to reach them. */
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import type { TensorInfo } from "@tensorflow/tfjs-core";
import { instantiate, type WasmExports, type WasmMemory } from "../../../core/wasm/module";
import { Buffers, type Heap } from "./buffers";
import { microKernels } from "./micro-kernel";
import { packs } from "./pack";
import { poolKernels } from "./pool-kernels";
import { rowKernels } from "./rows";
import { sweeps, tileBytes } from "./sweep";

/** Of the kernels' arithmetic: another version may give other bits. */
export const kernelsVersion = "1";

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

export class Simd {
  readonly call: WasmExports;
  private readonly module: EmscriptenModule;
  private readonly memory: WasmMemory;
  private readonly scratches: Buffers<ScratchName>;

  /** @throws Error where the backend does not show its memory, CompileError where the machine has no WebAssembly SIMD. */
  constructor(private readonly backend: BackendWasm) {
    this.module = backend.wasm as unknown as EmscriptenModule;
    const memory = this.module.asm?.memory;
    if (!memory) throw new Error("This version of @tensorflow/tfjs-backend-wasm does not show its memory.");
    this.memory = memory;
    this.scratches = this.buffers();
    const functions = [...microKernels, ...sweeps, ...packs, ...rowKernels, ...poolKernels];
    this.call = instantiate(functions, { initial: 1, shared: false }, memory);
  }

  /** Where a tensor lies. Allocating moves no tensor. */
  address(tensor: TensorInfo): number {
    return this.backend.getMemoryOffset(tensor.dataId);
  }

  /** Memory of a new owner. */
  buffers<Name extends string>(): Buffers<Name> {
    return new Buffers(this.module);
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
    return new Float32Array(this.memory.buffer, at, length);
  }

  /** A table of i32 in scratch. */
  table(name: ScratchName, values: Int32Array): number {
    const at = this.scratch(name, values.byteLength);
    new Int32Array(this.memory.buffer, at, values.length).set(values);
    return at;
  }
}

const instances = new WeakMap<BackendWasm, Simd>();

export function simdOf(backend: BackendWasm): Simd {
  const known = instances.get(backend);
  if (known) return known;
  const simd = new Simd(backend);
  instances.set(backend, simd);
  return simd;
}
