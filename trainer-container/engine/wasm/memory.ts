import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";
import { memoryOf, WasmMemoryError } from "../../tfjs/simd/simd";
import { EngineError } from "../errors";

/** Whether an error of the WebAssembly backend is a lack of memory. A kernel that lacks it aborts without a reason. */
export function isMemoryFull(error: unknown): boolean {
  if (error instanceof WasmMemoryError) return true;
  if (tf.getBackend() !== "wasm" || (error as Error | undefined)?.name !== "RuntimeError") return false;
  return memoryOf(tf.backend() as BackendWasm).buffer.byteLength > 2 ** 31;
}

/** Computes a pass. @throws EngineError `OUT_OF_MEMORY` if it does not fit in WebAssembly's memory */
export function withinMemory<T>(compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!isMemoryFull(error)) throw error;
    throw new EngineError(
      "OUT_OF_MEMORY",
      "A step does not fit in WebAssembly's memory, which has 4 GiB at most. Set a smaller hyperparameters.batchSize or " +
        "more micro-batches, of which one is computed at a time, or train with native TensorFlow (backend: native).",
      { httpStatus: 422, cause: error },
    );
  }
}
