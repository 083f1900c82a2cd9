import * as tf from "@tensorflow/tfjs-core";
import { type KernelArguments, replaceKernel, shared } from "./wasm-kernel";

/** Identity and a cast to the type that is there already: the stock kernels copy. No kernel writes into its inputs, so memory can be shared. */
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
