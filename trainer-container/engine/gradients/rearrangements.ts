import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";

export function registerRearrangementGradients(): void {
  // TensorFlow.js does not expect a single output.
  replaceGradient({
    kernelName: tf.Unpack,
    gradFunc: (dy, _, attrs) => ({ value: () => tf.stack([dy].flat(), attrs["axis"] as number) }),
  });
  replaceGradient({
    kernelName: tf.SplitV,
    gradFunc: (dy, _, attrs) => ({ x: () => tf.concat([dy].flat(), attrs["axis"] as number) }),
  });
  replaceGradient({
    kernelName: tf.MirrorPad,
    inputsToSave: ["x"],
    gradFunc: (dy, [x], attrs) => {
      const paddings = attrs["paddings"] as unknown as readonly [number, number][];
      const isReflected = (attrs["mode"] as unknown as string) === "reflect";
      return { x: () => fold(dy as tf.Tensor, (x as tf.Tensor).shape, paddings, isReflected ? 1 : 0) };
    },
  });
  replaceGradient({
    kernelName: tf.DepthToSpace,
    inputsToSave: ["x"],
    gradFunc: (dy, [x], attrs) => {
      const { shape } = x as tf.Tensor4D;
      const [batch, height, width] = shape;
      const block = attrs["blockSize"] as number;
      const cells = [batch, height, block, width, block, shape[3] / (block * block)];
      return { x: () => tf.reshape(tf.transpose(tf.reshape(dy as tf.Tensor, cells), [0, 1, 3, 2, 4, 5]), shape) };
    },
  });
}

/**
 * Adds the elements of a padding to those that they mirror. TensorFlow.js leaves them out.
 *
 * @param offset 1 if the edge itself is not mirrored
 */
function fold(
  dy: tf.Tensor,
  shape: readonly number[],
  paddings: readonly (readonly [number, number])[],
  offset: number,
): tf.Tensor {
  let sum = dy;
  for (const [axis, [before, after]] of paddings.entries()) {
    if (before === 0 && after === 0) continue;
    const size = shape[axis]!;
    const part = (begin: number, length: number) => {
      const at = (value: number, other: number) => sum.shape.map((_, each) => (each === axis ? value : other));
      return tf.slice(sum, at(begin, 0), at(length, -1));
    };
    const placed = (begin: number, length: number, first: number) =>
      tf.pad(
        tf.reverse(part(begin, length), axis),
        sum.shape.map((_, each) => (each === axis ? [first, size - first - length] : [0, 0])),
      );
    const sums = [part(before, size)];
    if (before > 0) sums.push(placed(0, before, offset));
    if (after > 0) sums.push(placed(before + size, after, size - offset - after));
    sum = sums.reduce((one, other) => tf.add(one, other));
  }
  return sum;
}
