import * as tf from "@tensorflow/tfjs-core";
import { callKernel, dispose, type KernelArguments, replaceKernel } from "./wasm-kernel";

/**
 * Registers a one-hot that respects the requested type. The stock kernel always writes integers, which are denormals
 * near 0 as float32.
 */
export function registerTypedOneHot(): void {
  type Arguments = KernelArguments<tf.NamedTensorInfoMap, { readonly dtype: tf.DataType }>;
  replaceKernel<Arguments>(tf.OneHot, (stock) => (args) => {
    const integers = stock({ ...args, attrs: { ...args.attrs, dtype: "int32" } });
    if (args.attrs.dtype === "int32") return integers;
    const typed = callKernel(args.backend, tf.Cast, { x: integers }, { dtype: args.attrs.dtype });
    dispose(args.backend, integers);
    return typed;
  });
}
