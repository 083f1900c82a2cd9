/**
 * The gradients of the depthwise convolution, which the stock backend lacks. Each channel has its own filter, so this
 * is not a matrix product. The innermost loops run over a row of pixels.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { ConvInfo } from "../simd/conv";
import { simdOf } from "../simd/simd";
import { floats, type KernelArguments } from "./wasm-kernel";

interface DepthwiseAttributes {
  readonly strides: [number, number] | number;
  readonly dilations: [number, number] | number;
  readonly pad: "valid" | "same" | number | tf.backend_util.ExplicitPadding;
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

const float = 4;

type Shape4D = [number, number, number, number];

function depthwiseInfo(x: readonly number[], filter: readonly number[], attrs: DepthwiseAttributes): ConvInfo {
  const { strides, dilations, pad, dimRoundingMode } = attrs;
  const shapes = [[...x] as Shape4D, [...filter] as Shape4D] as const;
  return tf.backend_util.computeConv2DInfo(...shapes, strides, dilations, pad, dimRoundingMode, true);
}

/** Pixels of a row that one tap of the filter connects. The offsets are in elements. */
interface Row {
  readonly x: number;
  readonly dy: number;
  readonly filter: number;
  readonly pixels: number;
}

function forEachRow(info: ConvInfo, visit: (row: Row) => void): void {
  const { batchSize, outHeight, outWidth, inHeight, inWidth, inChannels, outChannels, strideWidth } = info;
  for (let n = 0; n < batchSize; n++) {
    for (let oh = 0; oh < outHeight; oh++) {
      for (let kh = 0; kh < info.filterHeight; kh++) {
        const ih = oh * info.strideHeight - info.padInfo.top + kh * info.dilationHeight;
        if (ih < 0 || ih >= inHeight) continue;
        for (let kw = 0; kw < info.filterWidth; kw++) {
          const shift = kw * info.dilationWidth - info.padInfo.left;
          const first = Math.max(0, Math.ceil(-shift / strideWidth));
          const end = Math.min(outWidth, Math.floor((inWidth - 1 - shift) / strideWidth) + 1);
          if (first >= end) continue;
          visit({
            x: ((n * inHeight + ih) * inWidth + first * strideWidth + shift) * inChannels,
            dy: ((n * outHeight + oh) * outWidth + first) * outChannels,
            filter: (kh * info.filterWidth + kw) * outChannels,
            pixels: end - first,
          });
        }
      }
    }
  }
}

/** Calls `visit` with the offsets of each channel of x in a row, and of its outputs. */
function forEachChannel(info: ConvInfo, row: Row, visit: (x: number, dy: number, filter: number) => void): void {
  const multiplier = info.outChannels / info.inChannels;
  for (let pixel = 0; pixel < row.pixels; pixel++) {
    const x = row.x + pixel * info.strideWidth * info.inChannels;
    const dy = row.dy + pixel * info.outChannels;
    for (let out = 0; out < info.outChannels; out++) {
      visit(x + Math.floor(out / multiplier), dy + out, row.filter + out);
    }
  }
}

const isVectorized = ({ inChannels, outChannels }: ConvInfo) => inChannels === outChannels && inChannels % 4 === 0;

/**
 * Computes the gradient of the filter. It sums rows in double precision, because a tap is applied at every position of
 * every image.
 */
export function depthwiseBackpropFilter(
  args: KernelArguments<
    Record<"x" | "dy", tf.TensorInfo>,
    DepthwiseAttributes & { readonly filterShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs, inputs } = args;
  const info = depthwiseInfo(inputs.x.shape, attrs.filterShape, attrs);
  const gradient = backend.makeOutput([...attrs.filterShape], "float32");
  const sums = new Float64Array(tf.util.sizeFromShape([...attrs.filterShape]));
  if (isVectorized(info)) {
    const simd = simdOf(backend);
    const [x, dy] = [simd.address(inputs.x), simd.address(inputs.dy)];
    const pixel = info.inChannels * float;
    const to = simd.scratch("sums", pixel);
    const rowSums = simd.floats(to, info.inChannels);
    const sumProducts = simd.call["sumProducts"]!;
    forEachRow(info, (row) => {
      sumProducts(to, x + row.x * float, dy + row.dy * float, row.pixels, info.strideWidth * pixel, pixel);
      for (let i = 0; i < rowSums.length; i++) {
        sums[row.filter + i] = (sums[row.filter + i] as number) + (rowSums[i] as number);
      }
    });
  } else {
    const [x, dy] = [floats(backend, inputs.x), floats(backend, inputs.dy)];
    forEachRow(info, (row) =>
      forEachChannel(info, row, (xAt, dyAt, filterAt) => {
        sums[filterAt] = (sums[filterAt] as number) + (x[xAt] as number) * (dy[dyAt] as number);
      }),
    );
  }
  floats(backend, gradient).set(sums);
  return gradient;
}

export function depthwiseBackpropInput(
  args: KernelArguments<
    Record<"dy" | "filter", tf.TensorInfo>,
    DepthwiseAttributes & { readonly inputShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs, inputs } = args;
  const info = depthwiseInfo(attrs.inputShape, inputs.filter.shape, attrs);
  const gradient = backend.makeOutput([...attrs.inputShape], "float32");
  const dx = floats(backend, gradient).fill(0);
  if (isVectorized(info)) {
    const simd = simdOf(backend);
    const [into, dy, filter] = [gradient, inputs.dy, inputs.filter].map((each) => simd.address(each));
    const pixel = info.inChannels * float;
    const addProducts = simd.call["addProducts"]!;
    forEachRow(info, (row) => {
      const at = [into! + row.x * float, dy! + row.dy * float, filter! + row.filter * float] as const;
      addProducts(...at, row.pixels, info.strideWidth * pixel, pixel);
    });
  } else {
    const [dy, filter] = [floats(backend, inputs.dy), floats(backend, inputs.filter)];
    forEachRow(info, (row) =>
      forEachChannel(info, row, (xAt, dyAt, filterAt) => {
        dx[xAt] = (dx[xAt] as number) + (dy[dyAt] as number) * (filter[filterAt] as number);
      }),
    );
  }
  return gradient;
}
