import * as tf from "@tensorflow/tfjs-core";
import { callKernel, dispose, type KernelArguments } from "./wasm-kernel";

/** The stock kernel writes integers whatever type was asked for: as float32 they read as denormals near 0. */
export function registerTypedOneHot(): void {
  const stock = tf.getKernel(tf.OneHot, "wasm");
  if (!stock) throw new Error("The WebAssembly backend has no one-hot kernel.");
  type Arguments = KernelArguments<tf.NamedTensorInfoMap, { readonly dtype: tf.DataType }>;
  const stockOneHot = stock.kernelFunc as unknown as (args: Arguments) => tf.TensorInfo;
  tf.unregisterKernel(tf.OneHot, "wasm");
  tf.registerKernel({
    ...stock,
    kernelFunc: ((args: Arguments) => {
      const integers = stockOneHot({ ...args, attrs: { ...args.attrs, dtype: "int32" } });
      if (args.attrs.dtype === "int32") return integers;
      const typed = callKernel(args.backend, tf.Cast, { x: integers }, { dtype: args.attrs.dtype });
      dispose(args.backend, integers);
      return typed;
    }) as unknown as tf.KernelFunc,
  });
}
