import type { Engine, EngineOptions } from "./engine";
import { BackendUnavailableError } from "./errors";
import { createNativeEngine } from "./native-engine";
import { createWasmEngine } from "./wasm-engine";

/** @throws BackendUnavailableError if the requested native backend or GPU is not available */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const preferred = options.preferred ?? "auto";
  if (options.tf32 === true && options.gpu === undefined) {
    throw new BackendUnavailableError("TF32 was requested without a GPU, but only GPUs compute with it.");
  }
  if (preferred === "wasm" && options.precision) throw new BackendUnavailableError(needsNative(options.precision));
  if (preferred === "wasm") {
    if (options.gpu !== undefined) throw new BackendUnavailableError("The WebAssembly backend runs on no GPU.");
    return createWasmEngine(options);
  }
  try {
    return await createNativeEngine(options);
  } catch (error) {
    if (preferred === "native" || options.gpu !== undefined) throw error;
    if (options.precision) throw new BackendUnavailableError(needsNative(options.precision), error);
    options.onFallback?.(error as Error);
    return createWasmEngine(options);
  }
}

const needsNative = (precision: string): string =>
  `The precision ${precision} needs the native engine and a graph. Run 'ringmaster native' to install it, or train in float32.`;
