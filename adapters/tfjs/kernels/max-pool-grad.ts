import type * as tf from "@tensorflow/tfjs-core";
import { type BackendWasm, floats } from "./wasm-kernel";
import { forEachMeeting, windowsOf } from "./windows";

/**
 * Computes the gradient of max-pooling of images or volumes for any window and padding. The gradient of each output goes to
 * the first input of its window that equals the output. The stock kernels lose it if every input of a window is negative.
 */
export function maxPoolGrad(
  backend: BackendWasm,
  inputs: Readonly<Record<"dy" | "input" | "output", tf.TensorInfo>>,
  info: tf.backend_util.Conv2DInfo | tf.backend_util.Conv3DInfo,
): tf.TensorInfo {
  const gradient = backend.makeOutput(inputs.input.shape, "float32");
  const [x, y, dy] = [floats(backend, inputs.input), floats(backend, inputs.output), floats(backend, inputs.dy)];
  const dx = floats(backend, gradient).fill(0);
  const channels = info.inChannels;
  const given = new Int32Array(channels).fill(-1); // By channel, the last output whose gradient was assigned.

  forEachMeeting(windowsOf(info), (from, to) => {
    const [input, output] = [from * channels, to * channels];
    for (let channel = 0; channel < channels; channel++) {
      if (x[input + channel] !== y[output + channel] || given[channel] === output) continue;
      given[channel] = output;
      dx[input + channel] = (dx[input + channel] as number) + (dy[output + channel] as number);
    }
  });
  return gradient;
}
