import type * as tf from "@tensorflow/tfjs-core";
import { type BackendWasm, floats } from "./wasm-kernel";

/**
 * Computes the gradient of max-pooling for any window and padding. The gradient of each output goes to the first input
 * of its window that equals the output. The stock kernel loses it if every input of a window is negative.
 */
export function maxPoolGrad(
  backend: BackendWasm,
  inputs: Readonly<Record<"dy" | "input" | "output", tf.TensorInfo>>,
  info: tf.backend_util.Conv2DInfo,
): tf.TensorInfo {
  const gradient = backend.makeOutput(info.inShape, "float32");
  const [x, y, dy] = [floats(backend, inputs.input), floats(backend, inputs.output), floats(backend, inputs.dy)];
  const dx = floats(backend, gradient).fill(0);
  const channels = info.inChannels;
  const given = new Int32Array(channels).fill(-1); // By channel, the last output whose gradient was assigned.

  forEachMeeting(info, (input, output) => {
    for (let channel = 0; channel < channels; channel++) {
      if (x[input + channel] !== y[output + channel] || given[channel] === output) continue;
      given[channel] = output;
      dx[input + channel] = (dx[input + channel] as number) + (dy[output + channel] as number);
    }
  });
  return gradient;
}

/** Calls `visit` with the element offsets of each output pixel and, in order, the input pixels of its window. */
function forEachMeeting(info: tf.backend_util.Conv2DInfo, visit: (input: number, output: number) => void): void {
  const { batchSize, inHeight, inWidth, inChannels, outHeight, outWidth } = info;
  let output = 0;
  for (let n = 0; n < batchSize; n++) {
    for (let oh = 0; oh < outHeight; oh++) {
      const top = oh * info.strideHeight - info.padInfo.top;
      const [rowBegin, rowEnd] = [Math.max(0, top), Math.min(inHeight, top + info.filterHeight)];
      for (let ow = 0; ow < outWidth; ow++, output += inChannels) {
        const left = ow * info.strideWidth - info.padInfo.left;
        const [columnBegin, columnEnd] = [Math.max(0, left), Math.min(inWidth, left + info.filterWidth)];
        for (let row = rowBegin; row < rowEnd; row++) {
          for (let column = columnBegin; column < columnEnd; column++) {
            visit(((n * inHeight + row) * inWidth + column) * inChannels, output);
          }
        }
      }
    }
  }
}
