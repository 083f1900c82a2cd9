import { registerTransposingMatMul } from "./matmul";
import { registerTypedOneHot } from "./one-hot";

let registered = false;

/** Registers this folder's kernels, once; must run before the backend starts, which sets kernels up. */
export function registerWasmKernels(): void {
  if (registered) return;
  registered = true;
  registerTransposingMatMul();
  registerTypedOneHot();
}
