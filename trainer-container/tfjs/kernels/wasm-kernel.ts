/** The parts of the WebAssembly backend that the kernels use: memory on its heap, addressed by data id. */
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";
import * as tf from "@tensorflow/tfjs-core";

export type { BackendWasm };

export interface KernelArguments<Inputs, Attributes> {
  readonly inputs: Inputs;
  readonly backend: BackendWasm;
  readonly attrs: Attributes;
}

/** Returns a view of a tensor's memory. An allocation may move the heap, so take views after every `makeOutput`. */
export function floats(backend: BackendWasm, tensor: tf.TensorInfo): Float32Array {
  return backend.typedArrayFromHeap(tensor) as Float32Array;
}

/** Calls another kernel of the backend. The caller disposes of the result. */
export function callKernel(
  backend: BackendWasm,
  name: string,
  inputs: Record<string, tf.TensorInfo>,
  attrs: Record<string, unknown> = {},
): tf.TensorInfo {
  const kernel = tf.getKernel(name, "wasm");
  if (!kernel) throw new Error(`The WebAssembly backend has no kernel '${name}'.`);
  const run = kernel.kernelFunc as unknown as (args: unknown) => tf.TensorInfo;
  return run({ inputs, backend, attrs });
}

type Kernel<Arguments> = (args: Arguments) => tf.TensorInfo;

/** Registers a kernel in place of the stock kernel. `make` receives the stock kernel as a fallback. */
export function replaceKernel<Arguments>(name: string, make: (stock: Kernel<Arguments>) => Kernel<Arguments>): void {
  const stock = tf.getKernel(name, "wasm");
  if (!stock) throw new Error(`The WebAssembly backend has no kernel '${name}'.`);
  tf.unregisterKernel(name, "wasm");
  const kernel = make(stock.kernelFunc as unknown as Kernel<Arguments>);
  tf.registerKernel({ ...stock, kernelFunc: kernel as unknown as tf.KernelFunc });
}

/** Returns a tensor with the same memory, another shape and its own reference. */
export function shared(backend: BackendWasm, tensor: tf.TensorInfo, shape: readonly number[]): tf.TensorInfo {
  backend.incRef(tensor.dataId);
  return { dataId: tensor.dataId, dtype: tensor.dtype, shape: [...shape] };
}

export function dispose(backend: BackendWasm, ...tensors: readonly tf.TensorInfo[]): void {
  for (const tensor of tensors) backend.disposeData(tensor.dataId);
}
