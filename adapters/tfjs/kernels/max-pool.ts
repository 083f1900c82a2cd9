import * as tf from "@tensorflow/tfjs-core";
import { type Simd, simdOf } from "../simd/simd";
import { maxPoolGrad } from "./max-pool-grad";
import { type BackendWasm, type KernelArguments, replaceKernel } from "./wasm-kernel";

export interface PoolAttributes {
  readonly filterSize: [number, number] | number;
  readonly strides: [number, number] | number;
  readonly pad: "valid" | "same" | number;
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

type PoolInfo = tf.backend_util.Conv2DInfo;

const float = 4;

export function poolInfo(x: tf.TensorInfo, { filterSize, strides, pad, dimRoundingMode }: PoolAttributes): PoolInfo {
  const shape = x.shape as [number, number, number, number];
  return tf.backend_util.computePool2DInfo(shape, filterSize, strides, 1, pad, dimRoundingMode);
}

/** Whether all windows lie in the image and channels come in fours. */
function isWhole(info: PoolInfo): boolean {
  const { top, bottom, left, right } = info.padInfo;
  return (
    info.inChannels % 4 === 0 &&
    top + bottom + left + right === 0 &&
    (info.outHeight - 1) * info.strideHeight + info.filterHeight <= info.inHeight &&
    (info.outWidth - 1) * info.strideWidth + info.filterWidth <= info.inWidth
  );
}

/** Calls `visit` for each row of outputs with the addresses' offsets; `taps` and the rest are the kernels' last operands. */
function forEachRow(
  simd: Simd,
  info: PoolInfo,
  visit: (input: number, output: number, rest: readonly number[]) => void,
) {
  const pixel = info.inChannels * float;
  const row = info.inWidth * pixel;
  const size = info.filterHeight * info.filterWidth;
  const offsets = new Int32Array(size).map(
    (_, i) => Math.floor(i / info.filterWidth) * row + (i % info.filterWidth) * pixel,
  );
  const taps = simd.table("taps", offsets);
  const rest = [info.outWidth, info.strideWidth * pixel, pixel, taps, taps + size * float];
  for (let n = 0; n < info.batchSize; n++) {
    for (let oh = 0; oh < info.outHeight; oh++) {
      const input = (n * info.inHeight + oh * info.strideHeight) * row;
      visit(input, (n * info.outHeight + oh) * info.outWidth * pixel, rest);
    }
  }
}

function pool(backend: BackendWasm, x: tf.TensorInfo, info: PoolInfo): tf.TensorInfo {
  const y = backend.makeOutput(info.outShape, "float32");
  const simd = simdOf(backend);
  const [from, to] = [simd.address(x), simd.address(y)];
  forEachRow(simd, info, (input, output, rest) => simd.call["maxPool"]!(from + input, to + output, ...rest));
  return y;
}

function gradient(backend: BackendWasm, inputs: Record<"dy" | "input" | "output", tf.TensorInfo>, info: PoolInfo) {
  const dx = backend.makeOutput(info.inShape, "float32");
  const simd = simdOf(backend);
  const [x, y, dy, into] = [inputs.input, inputs.output, inputs.dy, dx].map((tensor) => simd.address(tensor)) as [
    number,
    number,
    number,
    number,
  ];
  simd.call["fillZero"]!(into, tf.util.sizeFromShape(info.inShape) * float);
  forEachRow(simd, info, (input, output, rest) =>
    simd.call["maxPoolGrad"]!(x + input, y + output, dy + output, into + input, ...rest),
  );
  return dx;
}

export function registerMaxPool(): void {
  replaceKernel<KernelArguments<Record<"x", tf.TensorInfo>, PoolAttributes>>(tf.MaxPool, (stock) => (args) => {
    const info = poolInfo(args.inputs.x, args.attrs);
    return args.inputs.x.dtype === "float32" && isWhole(info) ? pool(args.backend, args.inputs.x, info) : stock(args);
  });
  type Gradient = KernelArguments<Record<"dy" | "input" | "output", tf.TensorInfo>, PoolAttributes>;
  replaceKernel<Gradient>(tf.MaxPoolGrad, () => (args) => {
    const info = poolInfo(args.inputs.input, args.attrs);
    return isWhole(info) ? gradient(args.backend, args.inputs, info) : maxPoolGrad(args.backend, args.inputs, info);
  });
}
