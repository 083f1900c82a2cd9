/**
 * The gradients of the depthwise convolution, which the stock backend lacks. Each channel has its own filter, so this
 * is not a matrix product. The innermost loops run over contiguous channels.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { ConvInfo } from "../simd/conv";
import { floats, type KernelArguments } from "./wasm-kernel";

interface DepthwiseAttributes {
  readonly strides: [number, number] | number;
  readonly dilations: [number, number] | number;
  readonly pad: "valid" | "same" | number | tf.backend_util.ExplicitPadding;
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

type Shape4D = [number, number, number, number];

function depthwiseInfo(x: readonly number[], filter: readonly number[], attrs: DepthwiseAttributes): ConvInfo {
  const { strides, dilations, pad, dimRoundingMode } = attrs;
  const shapes = [[...x] as Shape4D, [...filter] as Shape4D] as const;
  return tf.backend_util.computeConv2DInfo(...shapes, strides, dilations, pad, dimRoundingMode, true);
}

/**
 * Calls `visit` with the element offsets of each combination of a pixel of x, a pixel of dy and a tap of the filter.
 */
function forEachMeeting(info: ConvInfo, visit: (x: number, dy: number, filter: number) => void): void {
  const { batchSize, outHeight, outWidth, inHeight, inWidth, inChannels, outChannels } = info;
  for (let n = 0; n < batchSize; n++) {
    for (let oh = 0; oh < outHeight; oh++) {
      for (let ow = 0; ow < outWidth; ow++) {
        const dy = ((n * outHeight + oh) * outWidth + ow) * outChannels;
        for (let kh = 0; kh < info.filterHeight; kh++) {
          const ih = oh * info.strideHeight - info.padInfo.top + kh * info.dilationHeight;
          if (ih < 0 || ih >= inHeight) continue;
          for (let kw = 0; kw < info.filterWidth; kw++) {
            const iw = ow * info.strideWidth - info.padInfo.left + kw * info.dilationWidth;
            if (iw < 0 || iw >= inWidth) continue;
            visit(((n * inHeight + ih) * inWidth + iw) * inChannels, dy, (kh * info.filterWidth + kw) * outChannels);
          }
        }
      }
    }
  }
}

/**
 * Computes the gradient of the filter. It sums in double precision, because a tap is applied at every position of every
 * image.
 */
export function depthwiseBackpropFilter(
  args: KernelArguments<
    Record<"x" | "dy", tf.TensorInfo>,
    DepthwiseAttributes & { readonly filterShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs } = args;
  const info = depthwiseInfo(args.inputs.x.shape, attrs.filterShape, attrs);
  const gradient = backend.makeOutput([...attrs.filterShape], "float32");
  const [x, dy] = [floats(backend, args.inputs.x), floats(backend, args.inputs.dy)];
  const sums = new Float64Array(tf.util.sizeFromShape([...attrs.filterShape]));
  const multiplier = info.outChannels / info.inChannels;
  forEachMeeting(info, (xAt, dyAt, filterAt) => {
    for (let channel = 0, out = 0; channel < info.inChannels; channel++) {
      const value = x[xAt + channel] as number;
      for (let m = 0; m < multiplier; m++, out++) {
        sums[filterAt + out] = (sums[filterAt + out] as number) + value * (dy[dyAt + out] as number);
      }
    }
  });
  floats(backend, gradient).set(sums);
  return gradient;
}

export function depthwiseBackpropInput(
  args: KernelArguments<
    Record<"dy" | "filter", tf.TensorInfo>,
    DepthwiseAttributes & { readonly inputShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs } = args;
  const info = depthwiseInfo(attrs.inputShape, args.inputs.filter.shape, attrs);
  const gradient = backend.makeOutput([...attrs.inputShape], "float32");
  const [dy, filter] = [floats(backend, args.inputs.dy), floats(backend, args.inputs.filter)];
  const dx = floats(backend, gradient).fill(0);
  const multiplier = info.outChannels / info.inChannels;
  forEachMeeting(info, (xAt, dyAt, filterAt) => {
    for (let channel = 0, out = 0; channel < info.inChannels; channel++) {
      let sum = dx[xAt + channel] as number;
      for (let m = 0; m < multiplier; m++, out++)
        sum += (dy[dyAt + out] as number) * (filter[filterAt + out] as number);
      dx[xAt + channel] = sum;
    }
  });
  return gradient;
}
