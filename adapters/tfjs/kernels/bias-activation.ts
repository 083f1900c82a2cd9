import * as tf from "@tensorflow/tfjs-core";
import { simdOf } from "../simd/simd";
import { type BackendWasm, callKernel, dispose } from "./wasm-kernel";

/** The operations of a fused kernel after its product. */
export interface Epilogue {
  readonly bias?: tf.TensorInfo | null;
  readonly activation?: tf.backend_util.Activation;
  readonly leakyreluAlpha?: number;
  readonly preluActivationWeights?: tf.TensorInfo | null;
}

const kernels: Readonly<Partial<Record<tf.backend_util.Activation, string>>> = {
  relu: tf.Relu,
  relu6: tf.Relu6,
  elu: tf.Elu,
  sigmoid: tf.Sigmoid,
  leakyrelu: tf.LeakyRelu,
  prelu: tf.Prelu,
};

/** Adds the bias to `x` in place, then applies the activation. `x` must not be used afterwards. */
export function finish(backend: BackendWasm, x: tf.TensorInfo, epilogue: Epilogue): tf.TensorInfo {
  const { bias, activation = "linear", leakyreluAlpha, preluActivationWeights } = epilogue;
  const rectified = Boolean(bias) && activation === "relu";
  if (bias) {
    const width = x.shape.at(-1) as number;
    if (tf.util.sizeFromShape(bias.shape) !== width)
      throw new Error(`The bias is [${bias.shape}], but the result's rows have ${width} elements.`);
    const simd = simdOf(backend);
    const at = simd.address(x);
    const rows = tf.util.sizeFromShape(x.shape.slice(0, -1));
    simd.call["addBias"]!(at, at, simd.address(bias), rows, width * 4, rectified ? 1 : 0);
  }
  if (rectified || activation === "linear") return x;
  const kernel = kernels[activation];
  if (!kernel) throw new Error(`The WebAssembly backend has no fused activation '${activation}'.`);
  const inputs = { x, ...(preluActivationWeights ? { alpha: preluActivationWeights } : {}) };
  const activated = callKernel(backend, kernel, inputs, { alpha: leakyreluAlpha });
  dispose(backend, x);
  return activated;
}
