import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../../adapters/tfjs/replace-gradient";

/** Registers the gradients of both kinds of resizing. */
export function registerResizingGradients(): void {
  register(tf.ResizeNearestNeighbor, tf.ResizeNearestNeighborGrad, nearest);
  register(tf.ResizeBilinear, tf.ResizeBilinearGrad, linear);
}

function register(kernelName: string, stock: string, share: Share): void {
  replaceGradient({
    kernelName,
    inputsToSave: ["images"],
    gradFunc: (output, [saved], attrs) => {
      const images = saved as tf.Tensor4D;
      const dy = output as tf.Tensor4D;
      // TensorFlow refuses its own operation on a GPU, because that is not deterministic.
      const blocks = share === nearest && !attrs["alignCorners"] ? blocksOf(images.shape, dy.shape) : undefined;
      if (blocks) return { images: () => tf.reshape(tf.sum(tf.reshape(dy, blocks), [2, 4]), images.shape) };
      if (attrs["halfPixelCenters"]) return { images: () => gather(dy, images.shape, share) };
      const inputs = { images, dy } as unknown as tf.NamedTensorMap;
      return { images: () => tf.engine().runKernel(stock, inputs, attrs) as tf.Tensor };
    },
  });
}

type Shape4D = readonly [number, number, number, number];

/** Returns the shape whose axes 2 and 4 are the copies of a pixel; undefined: the pixels have different numbers of copies. */
function blocksOf([batch, height, width, channels]: Shape4D, [, tall, wide]: Shape4D): number[] | undefined {
  if (tall % height !== 0 || wide % width !== 0) return undefined;
  return [batch, height, tall / height, width, wide / width, channels];
}

/** Returns the share of pixel `index` in the value at `center`, a position on an axis of `size` pixels. */
type Share = (index: number, center: number, size: number) => number;

const nearest: Share = (index, center, size) => (index === Math.min(Math.floor(center), size - 1) ? 1 : 0);

const linear: Share = (index, center, size) => {
  const position = Math.min(Math.max(center - 0.5, 0), size - 1);
  return Math.max(0, 1 - Math.abs(position - index));
};

/**
 * Multiplies dy by the transposed matrices of a resize with centers at half pixels, which the kernels of the gradients
 * ignore.
 */
function gather(dy: tf.Tensor4D, [batch, height, width, channels]: Shape4D, share: Share): tf.Tensor {
  const [, tall, wide] = dy.shape;
  const rows = tf.matMul(shares(height, tall, share), tf.reshape(dy, [batch, tall, wide * channels]));
  const columns = tf.matMul(shares(width, wide, share), tf.reshape(rows, [batch * height, wide, channels]));
  return tf.reshape(columns, [batch, height, width, channels]);
}

/** Returns the shares of `size` pixels in `resized` values, `[1, size, resized]`. */
function shares(size: number, resized: number, share: Share): tf.Tensor3D {
  const values = Float32Array.from({ length: size * resized }, (_, at) =>
    share(Math.floor(at / resized), (((at % resized) + 0.5) * size) / resized, size),
  );
  return tf.tensor3d(values, [1, size, resized]);
}
