/** Windows of pooling and convolutions over images and volumes. */
import type * as tf from "@tensorflow/tfjs-core";

type Axes = readonly [depth: number, height: number, width: number];

/** An image is a volume of depth 1. */
export interface Windows {
  readonly batchSize: number;
  readonly channels: number;
  readonly outChannels: number;
  readonly inputs: Axes;
  readonly outputs: Axes;
  readonly filter: Axes;
  readonly strides: Axes;
  /** Padding before the first element of each axis. */
  readonly padding: Axes;
}

export function windowsOf(info: tf.backend_util.Conv2DInfo | tf.backend_util.Conv3DInfo): Windows {
  const volume = "inDepth" in info ? info : undefined;
  return {
    batchSize: info.batchSize,
    channels: info.inChannels,
    outChannels: info.outChannels,
    inputs: [volume?.inDepth ?? 1, info.inHeight, info.inWidth],
    outputs: [volume?.outDepth ?? 1, info.outHeight, info.outWidth],
    filter: [volume?.filterDepth ?? 1, info.filterHeight, info.filterWidth],
    strides: [volume?.strideDepth ?? 1, info.strideHeight, info.strideWidth],
    padding: [volume?.padInfo.front ?? 0, info.padInfo.top, info.padInfo.left],
  };
}

/** Returns whether every window is inside the volume. */
export function areInside({ inputs, outputs, filter, strides, padding }: Windows): boolean {
  return inputs.every((size, axis) => {
    const last = (outputs[axis]! - 1) * strides[axis]! - padding[axis]! + filter[axis]!;
    return padding[axis] === 0 && last <= size;
  });
}

/**
 * Calls `visit` with each output position and, in order, the input positions of its window. A position counts pixels from
 * the first of the batch.
 *
 * @param visit `tap` is the position in the filter, `count` the number of the window's positions inside the volume
 */
export function forEachMeeting(
  { batchSize, inputs, outputs, filter, strides, padding }: Windows,
  visit: (input: number, output: number, tap: number, count: number) => void,
): void {
  const first = (axis: 0 | 1 | 2, at: number): number => at * strides[axis] - padding[axis];
  const begin = (start: number): number => Math.max(0, start);
  const end = (axis: 0 | 1 | 2, start: number): number => Math.min(inputs[axis], start + filter[axis]);
  let output = 0;
  for (let n = 0; n < batchSize; n++) {
    for (let od = 0; od < outputs[0]; od++) {
      const front = first(0, od);
      for (let oh = 0; oh < outputs[1]; oh++) {
        const top = first(1, oh);
        for (let ow = 0; ow < outputs[2]; ow++, output++) {
          const left = first(2, ow);
          const count = (end(0, front) - begin(front)) * (end(1, top) - begin(top)) * (end(2, left) - begin(left));
          for (let d = begin(front); d < end(0, front); d++) {
            for (let h = begin(top); h < end(1, top); h++) {
              const row = ((n * inputs[0] + d) * inputs[1] + h) * inputs[2];
              const taps = ((d - front) * filter[1] + (h - top)) * filter[2] - left;
              for (let w = begin(left); w < end(2, left); w++) visit(row + w, output, taps + w, count);
            }
          }
        }
      }
    }
  }
}
