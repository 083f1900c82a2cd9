import * as tf from "@tensorflow/tfjs-core";
import { type BackendWasm, callKernel, dispose, type KernelArguments, replaceKernel } from "./wasm-kernel";

type Statistics = Partial<Record<"offset" | "scale", tf.TensorInfo>>;
type Normalization = KernelArguments<
  Record<"x" | "mean" | "variance", tf.TensorInfo> & Statistics,
  { readonly varianceEpsilon: number }
>;

/**
 * Registers the normalization by statistics of any shape that broadcasts. The stock kernel computes wrong values unless the
 * statistics have the shape of x or of its last axis, and is slower.
 */
export function registerBatchNormalization(): void {
  replaceKernel<Normalization>(tf.FusedBatchNorm, () => ({ backend, inputs, attrs }) => {
    const { x, mean, variance, offset, scale } = inputs;
    const epsilon = backend.makeOutput([], "float32");
    backend.typedArrayFromHeap(epsilon)[0] = attrs.varianceEpsilon;
    let factor = apply(backend, tf.Add, variance, epsilon);
    factor = replaced(backend, factor, callKernel(backend, tf.Rsqrt, { x: factor }));
    dispose(backend, epsilon);
    if (scale) factor = replaced(backend, factor, apply(backend, tf.Multiply, factor, scale));
    let y = apply(backend, tf.Sub, x, mean);
    y = replaced(backend, y, apply(backend, tf.Multiply, y, factor));
    dispose(backend, factor);
    return offset ? replaced(backend, y, apply(backend, tf.Add, y, offset)) : y;
  });
}

const apply = (backend: BackendWasm, kernel: string, a: tf.TensorInfo, b: tf.TensorInfo) =>
  callKernel(backend, kernel, { a, b });

function replaced(backend: BackendWasm, old: tf.TensorInfo, by: tf.TensorInfo): tf.TensorInfo {
  dispose(backend, old);
  return by;
}
