import * as tf from "@tensorflow/tfjs-core";
import { type KernelArguments, replaceKernel, shared } from "./wasm-kernel";

/**
 * Registers Identity, and Cast to the same type, without the copies of the stock kernels. No kernel writes to its
 * inputs, so memory can be shared.
 */
export function registerPassThrough(): void {
  type Arguments = KernelArguments<Record<"x", tf.TensorInfo>, { readonly dtype: tf.DataType }>;
  replaceKernel<Arguments>(tf.Identity, (stock) => (args) => {
    const { x } = args.inputs;
    return x.dtype === "string" ? stock(args) : shared(args.backend, x, x.shape);
  });
  replaceKernel<Arguments>(tf.Cast, (stock) => (args) => {
    const { x } = args.inputs;
    return x.dtype !== "string" && x.dtype === args.attrs.dtype ? shared(args.backend, x, x.shape) : stock(args);
  });
}
