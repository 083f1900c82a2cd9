import * as tf from "@tensorflow/tfjs-core";
import { floats, type KernelArguments } from "./wasm-kernel";

interface PoolAttributes {
  readonly filterSize: [number, number] | number;
  readonly strides: [number, number] | number;
  readonly pad: "valid" | "same" | number;
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

/**
 * Gives each output's gradient to the first largest input of its window. The stock kernel loses it where every input of a
 * window is negative.
 */
export function maxPoolGrad(
  args: KernelArguments<Record<"dy" | "input", tf.TensorInfo>, PoolAttributes>,
): tf.TensorInfo {
  const { backend, attrs } = args;
  const shape = args.inputs.input.shape as [number, number, number, number];
  const { filterSize, strides, pad, dimRoundingMode } = attrs;
  const info = tf.backend_util.computePool2DInfo(shape, filterSize, strides, 1, pad, dimRoundingMode);
  const gradient = backend.makeOutput(shape, "float32");
  const [x, dy] = [floats(backend, args.inputs.input), floats(backend, args.inputs.dy)];
  const dx = floats(backend, gradient).fill(0);
  const { inHeight, inWidth, inChannels: channels, outHeight, outWidth } = info;

  for (let n = 0, output = 0; n < info.batchSize; n++) {
    for (let oh = 0; oh < outHeight; oh++) {
      const top = oh * info.strideHeight - info.padInfo.top;
      const [rowBegin, rowEnd] = [Math.max(0, top), Math.min(inHeight, top + info.filterHeight)];
      for (let ow = 0; ow < outWidth; ow++) {
        const left = ow * info.strideWidth - info.padInfo.left;
        const [columnBegin, columnEnd] = [Math.max(0, left), Math.min(inWidth, left + info.filterWidth)];
        for (let channel = 0; channel < channels; channel++, output++) {
          let largest = Number.NEGATIVE_INFINITY;
          let at = -1;
          for (let row = rowBegin; row < rowEnd; row++) {
            let index = ((n * inHeight + row) * inWidth + columnBegin) * channels + channel;
            for (let column = columnBegin; column < columnEnd; column++, index += channels) {
              const value = x[index] as number;
              if (value > largest || at < 0) {
                largest = value;
                at = index;
              }
            }
          }
          dx[at] = (dx[at] as number) + (dy[output] as number);
        }
      }
    }
  }
  return gradient;
}
