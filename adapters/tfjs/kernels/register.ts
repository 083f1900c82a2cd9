import * as tf from "@tensorflow/tfjs-core";
import { conv2dBackpropFilter, conv2dBackpropInput } from "./conv2d-backprop";
import { depthwiseBackpropFilter, depthwiseBackpropInput } from "./depthwise-backprop";
import { registerTransposingMatMul } from "./matmul";
import { maxPoolGrad } from "./max-pool-grad";
import { registerTypedOneHot } from "./one-hot";
import { unsortedSegmentSum } from "./unsorted-segment-sum";

let registered = false;

/** Kernels by name; a stock kernel of the same name is replaced. */
const kernels = {
  [tf.Conv2DBackpropFilter]: conv2dBackpropFilter,
  [tf.Conv2DBackpropInput]: conv2dBackpropInput,
  [tf.DepthwiseConv2dNativeBackpropFilter]: depthwiseBackpropFilter,
  [tf.DepthwiseConv2dNativeBackpropInput]: depthwiseBackpropInput,
  [tf.MaxPoolGrad]: maxPoolGrad,
  [tf.UnsortedSegmentSum]: unsortedSegmentSum,
};

/** Registers this folder's kernels, once; must run before the backend starts, which sets kernels up. */
export function registerWasmKernels(): void {
  if (registered) return;
  registered = true;
  registerTransposingMatMul();
  registerTypedOneHot();
  for (const [kernelName, kernel] of Object.entries(kernels)) {
    if (tf.getKernel(kernelName, "wasm")) tf.unregisterKernel(kernelName, "wasm");
    tf.registerKernel({ kernelName, backendName: "wasm", kernelFunc: kernel as unknown as tf.KernelFunc });
  }
}
