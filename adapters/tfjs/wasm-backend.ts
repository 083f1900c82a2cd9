import path from "node:path";
import * as wasm from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { type MultiplyAdd, multiplyAdd } from "../wasm/multiply-add";
import { registerChainedOps } from "./chained-ops";
import { registerWasmKernels } from "./kernels/register";
import { kernelsVersion, simdOf } from "./simd/simd";

export interface WasmBackendInfo {
  readonly version: string;
  readonly simd: boolean;
  readonly threads: number;
  /** Of our kernels over the package's: it changes with their arithmetic. */
  readonly kernels: string;
  /** Of products: bits depend on it. */
  readonly multiplyAdd: MultiplyAdd;
}

const crashEvents = ["uncaughtException", "unhandledRejection"] as const;

let started: Promise<WasmBackendInfo> | undefined;

/**
 * Starts TensorFlow.js on WebAssembly, once a process, with the kernels that training needs and the stock backend lacks.
 *
 * One thread: the backend's threaded build does not run on Node. Its binaries come from the package in `node_modules`,
 * where esbuild bundles leave it.
 *
 * @throws CompileError on a machine without WebAssembly SIMD.
 * @throws Error when another backend already runs in this process: TensorFlow.js has one engine a process.
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

  // Emscripten's glue installs process-wide handlers that rethrow what others would handle: take them off again.
  const before = crashEvents.map((event) => new Set(process.listeners(event as never)));
  const ok = await tf.setBackend("wasm");
  await tf.ready();
  crashEvents.forEach((event, index) => {
    for (const listener of process.listeners(event as never)) {
      if (!before[index]?.has(listener)) process.removeListener(event, listener as () => void);
    }
  });
  if (!ok) throw new Error(`The WebAssembly backend of TensorFlow.js did not start from ${folder}.`);
  simdOf(tf.backend() as wasm.BackendWasm); // says at the start where this machine or package will not do
  return {
    version: wasm.version_wasm,
    simd: await tf.env().getAsync("WASM_HAS_SIMD_SUPPORT").then(Boolean),
    threads: 1,
    kernels: kernelsVersion,
    multiplyAdd: multiplyAdd(),
  };
}
