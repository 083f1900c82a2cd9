/** Gradients of convolutions that TensorFlow.js refuses (dilated, explicitly padded, transposed), and of resizing. */
import * as tf from "@tensorflow/tfjs-core";
import { replaceGradient } from "../../tfjs/replace-gradient";

type Pair = [number, number];
type Pads = readonly [Pair, Pair];

interface Plain {
  input(shape: readonly number[], dy: tf.Tensor, filter: tf.Tensor, strides: Pair): tf.Tensor;
  filter(x: tf.Tensor, dy: tf.Tensor, shape: readonly number[], strides: Pair): tf.Tensor;
}

const run = (kernel: string, inputs: tf.NamedTensorMap, attrs: object): tf.Tensor =>
  tf.engine().runKernel(kernel, inputs, attrs as tf.NamedAttrMap);

const convolution: Plain = {
  input: (inputShape, dy, filter, strides) =>
    run(tf.Conv2DBackpropInput, { dy, filter }, { strides, pad: "valid", dataFormat: "NHWC", inputShape }),
  filter: (x, dy, filterShape, strides) =>
    run(tf.Conv2DBackpropFilter, { x, dy }, { strides, pad: "valid", dataFormat: "NHWC", filterShape }),
};
const plainDepthwise = { pad: "valid", dilations: [1, 1] };
const depthwise: Plain = {
  input: (inputShape, dy, filter, strides) =>
    run(tf.DepthwiseConv2dNativeBackpropInput, { dy, filter }, { ...plainDepthwise, strides, inputShape }),
  filter: (x, dy, filterShape, strides) =>
    run(tf.DepthwiseConv2dNativeBackpropFilter, { x, dy }, { ...plainDepthwise, strides, filterShape }),
};

export function registerConvolutionGradients(): void {
  for (const [kernelName, plain] of [
    [tf.Conv2D, convolution],
    [tf.DepthwiseConv2dNative, depthwise],
  ] as const) {
    const gradient = tf.getGradient(kernelName);
    replaceGradient({
      ...gradient,
      gradFunc: (dy, saved, attrs) => {
        const [x, filter] = saved as [tf.Tensor4D, tf.Tensor4D];
        const dilations = pairOf(attrs["dilations"] as unknown as number | Pair | null | undefined);
        const isStock = typeof attrs["pad"] === "string" && dilations.every((rate) => rate === 1);
        if (isStock || attrs["dataFormat"] === "NCHW") return gradient.gradFunc(dy, saved, attrs);
        const pads = paddingOf(x, filter, attrs, kernelName);
        const strides = pairOf(attrs["strides"] as unknown as number | Pair);
        const pass: Pass = { x, filter, dy: dy as tf.Tensor4D, strides, dilations, pads };
        return { x: () => inputGradient(plain, pass), filter: () => filterGradient(plain, pass) };
      },
    });
  }
  replaceGradient({
    kernelName: tf.Conv3DBackpropInputV2,
    inputsToSave: ["dy", "filter"],
    gradFunc: (output, saved, attrs) => {
      const [ddx, dy, filter] = [output, ...saved] as [tf.Tensor5D, tf.Tensor5D, tf.Tensor5D];
      const { strides, pad } = attrs as unknown as { strides: number; pad: "same" | "valid" };
      return {
        dy: () => tf.conv3d(ddx, filter, strides, pad),
        filter: () => run(tf.Conv3DBackpropFilterV2, { x: ddx, dy }, { strides, pad, filterShape: filter.shape }),
      };
    },
  });
}

const pairOf = (value: number | Pair | null | undefined): Pair =>
  Array.isArray(value) ? value : [value ?? 1, value ?? 1];

/** Returns the numbers of rows and columns of zeros around the input of a convolution. */
export function paddingOf(x: tf.Tensor4D, filter: tf.Tensor4D, attrs: tf.NamedAttrMap, kernelName: string): Pads {
  const { strides, pad, dilations, dimRoundingMode } = attrs as unknown as {
    strides: number;
    pad: number;
    dilations: number | null;
    dimRoundingMode?: "floor";
  };
  const isDepthwise = kernelName === tf.DepthwiseConv2dNative;
  const { padInfo } = tf.backend_util.computeConv2DInfo(
    ...([x.shape, filter.shape, strides, dilations ?? 1, pad, dimRoundingMode, isDepthwise] as const),
  );
  return [
    [padInfo.top, padInfo.bottom],
    [padInfo.left, padInfo.right],
  ];
}

interface Pass {
  readonly x: tf.Tensor4D;
  readonly filter: tf.Tensor4D;
  readonly dy: tf.Tensor4D;
  readonly strides: Pair;
  readonly dilations: Pair;
  readonly pads: Pads;
}

/** Zeros to add after the padded input, so that the dilations divide it and it is read without dilation. */
function addedZeros({ x, dilations, pads }: Pass): Pair {
  const added = (axis: 0 | 1) => {
    const size = x.shape[axis + 1]! + pads[axis][0] + pads[axis][1];
    return (dilations[axis] - (size % dilations[axis])) % dilations[axis];
  };
  return [added(0), added(1)];
}

/** Returns the zeros around the input, with those that let the dilations divide it. */
function zerosAround(pass: Pass): [Pair, Pair] {
  const [rows, columns] = addedZeros(pass);
  const [[top, bottom], [left, right]] = pass.pads;
  return [
    [top, bottom + rows],
    [left, right + columns],
  ];
}

const isDilated = ({ dilations }: Pass): boolean => dilations.some((rate) => rate > 1);

/** Returns dy of the images into which the padded input is divided. */
function dividedOutput(pass: Pass): tf.Tensor4D {
  if (!isDilated(pass)) return pass.dy;
  const [rows, columns] = addedZeros(pass);
  return tf.spaceToBatchND(pass.dy, pass.dilations, [
    [0, rows],
    [0, columns],
  ]);
}

function inputGradient(plain: Plain, pass: Pass): tf.Tensor {
  const { x, filter, strides, dilations } = pass;
  const [batch, height, width, channels] = x.shape;
  const [[top, bottom], [left, right]] = zerosAround(pass);
  const [down, across] = dilations;
  const [rows, columns] = [(top + height + bottom) / down, (left + width + right) / across];
  const divided = plain.input([batch * down * across, rows, columns, channels], dividedOutput(pass), filter, strides);
  return isDilated(pass)
    ? tf.batchToSpaceND(divided, dilations, zerosAround(pass))
    : tf.slice(divided, [0, top, left, 0], x.shape);
}

function filterGradient(plain: Plain, pass: Pass): tf.Tensor {
  const { x, filter, strides, dilations } = pass;
  const around = zerosAround(pass);
  const divided = isDilated(pass) ? tf.spaceToBatchND(x, dilations, around) : tf.pad(x, [[0, 0], ...around, [0, 0]]);
  return plain.filter(divided, dividedOutput(pass), filter.shape, strides);
}

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

/** Multiplies dy by the transposed matrices of a resize with half-pixel centers, which the stock gradients ignore. */
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
