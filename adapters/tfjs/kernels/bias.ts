/** The bias kernel and its gradient. The stock kernels broadcast element by element, and transpose before they sum. */
import * as tf from "@tensorflow/tfjs-core";
import { simdOf } from "../simd/simd";
import { sumRows } from "../simd/sum-rows";
import { type BackendWasm, type KernelArguments, replaceKernel } from "./wasm-kernel";

const float = 4;

function addBias(backend: BackendWasm, a: tf.TensorInfo, bias: tf.TensorInfo): tf.TensorInfo {
  const width = bias.shape[0] as number;
  const sum = backend.makeOutput([...a.shape], "float32");
  const simd = simdOf(backend);
  const rows = tf.util.sizeFromShape(a.shape) / width;
  simd.call["addBias"]!(simd.address(sum), simd.address(a), simd.address(bias), rows, width * float, 0);
  return sum;
}

export function registerBias(): void {
  replaceKernel<KernelArguments<Record<"a" | "b", tf.TensorInfo>, object>>(tf.Add, (stock) => (args) => {
    const { a, b } = args.inputs;
    const isBias =
      a.dtype === "float32" &&
      b.dtype === "float32" &&
      a.shape.length > 1 &&
      b.shape.length === 1 &&
      a.shape.at(-1) === b.shape[0] &&
      b.shape[0] !== 0;
    return isBias ? addBias(args.backend, a, b) : stock(args);
  });
  type Sum = KernelArguments<
    Record<"x", tf.TensorInfo>,
    { readonly axis: number | number[]; readonly keepDims: boolean }
  >;
  replaceKernel<Sum>(tf.Sum, (stock) => (args) => {
    const { x } = args.inputs;
    const axes = [...tf.util.parseAxisParam(args.attrs.axis, x.shape)].sort((a, b) => a - b);
    const kept = x.shape.slice(axes.length);
    const leading = axes.every((axis, i) => axis === i) && axes.length > 0 && kept.length > 0;
    if (!leading || x.dtype !== "float32" || tf.util.sizeFromShape(x.shape) === 0) return stock(args);
    const shape = args.attrs.keepDims ? [...axes.map(() => 1), ...kept] : kept;
    const width = tf.util.sizeFromShape(kept);
    const sums = args.backend.makeOutput(shape, "float32");
    const simd = simdOf(args.backend);
    sumRows(simd, simd.address(x), tf.util.sizeFromShape(x.shape) / width, width, simd.address(sums));
    return sums;
  });
}
