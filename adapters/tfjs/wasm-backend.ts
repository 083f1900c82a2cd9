import path from "node:path";
import * as wasm from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { type MultiplyAdd, multiplyAdd } from "../wasm/multiply-add";
import { registerChainedOps } from "./chained-ops";
import { registerWasmKernels } from "./kernels/register";
import { type Heap, WasmMemoryError } from "./simd/buffers";
import { kernelsVersion, simdOf } from "./simd/simd";

export interface WasmBackendInfo {
  readonly version: string;
  readonly simd: boolean;
  readonly threads: number;
  /** The version of this folder's kernels and the package's version. It changes with their arithmetic. */
  readonly kernels: string;
  /** The rounding of products. Bits depend on it. */
  readonly multiplyAdd: MultiplyAdd;
}

const crashEvents = ["uncaughtException", "unhandledRejection"] as const;

let started: Promise<WasmBackendInfo> | undefined;

/**
 * Starts TensorFlow.js on WebAssembly, once per process, with the kernels that training needs and the stock backend
 * lacks.
 *
 * It uses one thread, because the backend's threaded build does not run on Node. Its binaries come from the package in
 * `node_modules`, which esbuild does not bundle.
 *
 * @throws CompileError on a machine without WebAssembly SIMD
 * @throws Error if another backend already runs in this process, because TensorFlow.js has one engine per process
 */
export function startWasmBackend(): Promise<WasmBackendInfo> {
  started ??= start();
  return started;
}

async function start(): Promise<WasmBackendInfo> {
  const active = tf.engine().backendName;
  if (active && active !== "wasm") {
    throw new Error(
      `This process already runs the TensorFlow.js backend '${active}', and it has one engine a process; ` +
        "load the WebAssembly backend in a process of its own.",
    );
  }
  const folder = path.join(path.dirname(require.resolve("@tensorflow/tfjs-backend-wasm/package.json")), "dist");
  wasm.setWasmPaths(`${folder}${path.sep}`);
  registerChainedOps();
  registerWasmKernels();

  // Emscripten's glue code installs process-wide handlers that rethrow errors that others would handle. This removes
  // them.
  const before = crashEvents.map((event) => new Set(process.listeners(event as never)));
  const ok = await tf.setBackend("wasm");
  await tf.ready();
  crashEvents.forEach((event, index) => {
    for (const listener of process.listeners(event as never)) {
      if (!before[index]?.has(listener)) process.removeListener(event, listener as () => void);
    }
  });
  if (!ok) throw new Error(`The WebAssembly backend of TensorFlow.js did not start from ${folder}.`);
  const backend = tf.backend() as wasm.BackendWasm;
  refuseNull(backend.wasm as unknown as Heap);
  simdOf(backend); // Fails at the start if the machine or the package is not suitable.
  return {
    version: wasm.version_wasm,
    simd: await tf.env().getAsync("WASM_HAS_SIMD_SUPPORT").then(Boolean),
    threads: 1,
    kernels: kernelsVersion,
    multiplyAdd: multiplyAdd(),
  };
}

/**
 * Makes allocations throw if there is no memory left. TensorFlow.js does not check the result: a tensor at address 0 would
 * overwrite the kernels' own data.
 */
function refuseNull(heap: { -readonly [key in keyof Heap]: Heap[key] }): void {
  heap._free(heap._malloc(1)); // Emscripten's first call replaces the function.
  const allocate = heap._malloc;
  heap._malloc = (bytes) => {
    const address = allocate(bytes);
    if (address === 0) throw new WasmMemoryError(bytes);
    return address;
  };
}
