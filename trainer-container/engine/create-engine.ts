import type { Engine, EngineOptions } from "./engine";
import { BackendUnavailableError } from "./errors";
import { createNativeEngine } from "./native-engine";
import { createWasmEngine } from "./wasm-engine";

/**
 * The engine of this process; TensorFlow.js runs one backend a process.
 *
 * @throws BackendUnavailableError when native, or the GPU, was asked for and cannot be had.
 */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const preferred = options.preferred ?? "auto";
  if (options.tf32 === true && options.gpu === undefined) {
    throw new BackendUnavailableError("TF32 was requested without a GPU, but only GPUs compute with it.");
  }
  if (preferred === "wasm") {
    if (options.gpu !== undefined) throw new BackendUnavailableError("The WebAssembly backend runs on no GPU.");
    return createWasmEngine();
  }
  try {
    return await createNativeEngine(options);
  } catch (error) {
    if (preferred === "native" || options.gpu !== undefined) throw error;
    options.onFallback?.(error as Error);
    return createWasmEngine();
  }
}
