import * as tf from "@tensorflow/tfjs-core";
import { isWhole, maxPool, maxPoolGradient, type PoolInfo } from "../simd/max-pool";
import { simdOf } from "../simd/simd";
import { maxPoolGrad } from "./max-pool-grad";
import { type BackendWasm, type KernelArguments, replaceKernel } from "./wasm-kernel";

export interface PoolAttributes {
  readonly filterSize: [number, number] | number;
  readonly strides: [number, number] | number;
  readonly pad: "valid" | "same" | number;
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

export function poolInfo(x: tf.TensorInfo, { filterSize, strides, pad, dimRoundingMode }: PoolAttributes): PoolInfo {
  const shape = x.shape as [number, number, number, number];
  return tf.backend_util.computePool2DInfo(shape, filterSize, strides, 1, pad, dimRoundingMode);
}

function pool(backend: BackendWasm, x: tf.TensorInfo, info: PoolInfo): tf.TensorInfo {
  const y = backend.makeOutput(info.outShape, "float32");
  const simd = simdOf(backend);
  maxPool(simd, info, simd.address(x), simd.address(y));
  return y;
}

type GradientInputs = Readonly<Record<"dy" | "input" | "output", tf.TensorInfo>>;

function gradient(backend: BackendWasm, { input, output, dy }: GradientInputs, info: PoolInfo): tf.TensorInfo {
  const dx = backend.makeOutput(info.inShape, "float32");
  const simd = simdOf(backend);
  const [x, y] = [simd.address(input), simd.address(output)];
  maxPoolGradient(simd, info, { x, y, dy: simd.address(dy), dx: simd.address(dx) });
  return dx;
}

export function registerMaxPool(): void {
  replaceKernel<KernelArguments<Record<"x", tf.TensorInfo>, PoolAttributes>>(tf.MaxPool, (stock) => (args) => {
    const info = poolInfo(args.inputs.x, args.attrs);
    return args.inputs.x.dtype === "float32" && isWhole(info) ? pool(args.backend, args.inputs.x, info) : stock(args);
  });
  type Gradient = KernelArguments<GradientInputs, PoolAttributes>;
  replaceKernel<Gradient>(tf.MaxPoolGrad, () => (args) => {
    const info = poolInfo(args.inputs.input, args.attrs);
    return isWhole(info) ? gradient(args.backend, args.inputs, info) : maxPoolGrad(args.backend, args.inputs, info);
  });
}
