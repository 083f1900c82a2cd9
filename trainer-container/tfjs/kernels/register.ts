import * as tf from "@tensorflow/tfjs-core";
import {
  conv2dBackpropFilter,
  conv2dBackpropInput,
  depthwiseBackpropFilter,
  depthwiseBackpropInput,
  dilation2D,
  dilation2DBackpropFilter,
  dilation2DBackpropInput,
  registerConv2D,
} from "./convolutions";
import { registerActivationGradients, registerBatchNormalization, registerBias, registerPrelu } from "./elementwise";
import { registerLstm } from "./lstm";
import { registerGather, registerSlice, registerTile, registerTypedOneHot, unsortedSegmentSum } from "./places";
import { registerMaxPool, registerVolumes } from "./pooling";
import { registerEinsum, registerMatMul } from "./products";
import { type KernelArguments, replaceKernel, shared } from "./wasm-kernel";

let registered = false;

const kernels = {
  [tf.Conv2DBackpropFilter]: conv2dBackpropFilter,
  [tf.Conv2DBackpropInput]: conv2dBackpropInput,
  [tf.DepthwiseConv2dNativeBackpropFilter]: depthwiseBackpropFilter,
  [tf.DepthwiseConv2dNativeBackpropInput]: depthwiseBackpropInput,
  [tf.Dilation2D]: dilation2D,
  [tf.Dilation2DBackpropFilter]: dilation2DBackpropFilter,
  [tf.Dilation2DBackpropInput]: dilation2DBackpropInput,
  [tf.UnsortedSegmentSum]: unsortedSegmentSum,
};

/** Registers this folder's kernels once. Call it before the backend starts, because the backend sets up the kernels. */
export function registerWasmKernels(): void {
  if (registered) return;
  registered = true;
  registerMatMul();
  registerConv2D();
  registerMaxPool();
  registerVolumes();
  registerBias();
  registerPassThrough();
  registerPrelu();
  registerActivationGradients();
  registerTypedOneHot();
  registerSlice();
  registerTile();
  registerGather();
  registerBatchNormalization();
  registerLstm();
  registerEinsum();
  for (const [kernelName, kernel] of Object.entries(kernels)) {
    if (tf.getKernel(kernelName, "wasm")) tf.unregisterKernel(kernelName, "wasm");
    tf.registerKernel({ kernelName, backendName: "wasm", kernelFunc: kernel as unknown as tf.KernelFunc });
  }
}

/** Registers Identity, and Cast to the same type, without copies: no kernel writes to its inputs. */
function registerPassThrough(): void {
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
