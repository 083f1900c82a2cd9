/** The dilation of images and its gradients. The stock kernel takes other elements of the filter than it should. */
import * as tf from "@tensorflow/tfjs-core";
import { floats, type KernelArguments } from "./wasm-kernel";

interface DilationAttributes {
  readonly strides: [number, number] | number;
  readonly dilations: [number, number] | number;
  readonly pad: "valid" | "same" | number;
}

type Inputs<Names extends string> = KernelArguments<Record<Names, tf.TensorInfo>, DilationAttributes>;

/**
 * Calls `visit` for each output with three positions: of the output, and of the elements of x and filter whose sum is the
 * largest. Of equal sums, the first counts.
 */
function forEachLargest(
  { backend, inputs: { x, filter }, attrs: { strides, pad, dilations } }: Inputs<"x" | "filter">,
  visit: (out: number, x: number, filter: number) => void,
): void {
  const info = infoOf(x, filter, { strides, pad, dilations });
  const { inHeight, inWidth, inChannels: channels, outHeight, outWidth, filterHeight, filterWidth, padInfo } = info;
  const [values, taps] = [floats(backend, x), floats(backend, filter)];
  let out = 0;
  for (let image = 0; image < info.batchSize; image += 1) {
    for (let place = 0; place < outHeight * outWidth; place += 1) {
      const top = Math.floor(place / outWidth) * info.strideHeight - padInfo.top;
      const left = (place % outWidth) * info.strideWidth - padInfo.left;
      for (let channel = 0; channel < channels; channel += 1) {
        let [bestX, bestTap, largest] = [-1, -1, Number.NEGATIVE_INFINITY];
        for (let tap = 0; tap < filterHeight * filterWidth; tap += 1) {
          const row = top + Math.floor(tap / filterWidth) * info.dilationHeight;
          const column = left + (tap % filterWidth) * info.dilationWidth;
          if (row < 0 || row >= inHeight || column < 0 || column >= inWidth) continue;
          const xAt = ((image * inHeight + row) * inWidth + column) * channels + channel;
          const tapAt = tap * channels + channel;
          const sum = Math.fround((values[xAt] as number) + (taps[tapAt] as number));
          if (bestX < 0 || sum > largest) [bestX, bestTap, largest] = [xAt, tapAt, sum];
        }
        visit(out, bestX, bestTap);
        out += 1;
      }
    }
  }
}

function infoOf(x: tf.TensorInfo, filter: tf.TensorInfo, { strides, pad, dilations }: DilationAttributes) {
  const shapes = [x.shape as [number, number, number, number], filter.shape as [number, number, number]] as const;
  return tf.backend_util.computeDilation2DInfo(...shapes, strides, pad, "NHWC", dilations);
}

export function dilation2D(args: Inputs<"x" | "filter">): tf.TensorInfo {
  const { backend, inputs, attrs } = args;
  const result = backend.makeOutput(infoOf(inputs.x, inputs.filter, attrs).outShape, "float32");
  const [values, taps, sums] = [inputs.x, inputs.filter, result].map((each) => floats(backend, each));
  forEachLargest(args, (out, x, filter) => {
    sums![out] = (values![x] as number) + (taps![filter] as number);
  });
  return result;
}

/** Returns a kernel for the gradient of one input. It sums in double precision. */
const gradientOf = (input: "x" | "filter") => (args: Inputs<"x" | "filter" | "dy">) => {
  const { backend, inputs } = args;
  const sums = new Float64Array(tf.util.sizeFromShape(inputs[input].shape));
  const dy = floats(backend, inputs.dy);
  forEachLargest(args, (out, x, filter) => {
    const at = input === "x" ? x : filter;
    sums[at] = (sums[at] as number) + (dy[out] as number);
  });
  const gradient = backend.makeOutput(inputs[input].shape, "float32");
  floats(backend, gradient).set(sums);
  return gradient;
};

export const dilation2DBackpropInput = gradientOf("x");
export const dilation2DBackpropFilter = gradientOf("filter");
