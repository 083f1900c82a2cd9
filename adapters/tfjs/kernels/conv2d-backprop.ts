import * as tf from "@tensorflow/tfjs-core";
import { type ConvInfo, columnsToImage, imageToColumns, patchSize, positions } from "./im2col";
import { type BackendWasm, callKernel, dispose, floats, type KernelArguments, reshaped } from "./wasm-kernel";

interface ConvAttributes {
  readonly strides: [number, number] | number;
  readonly pad: "valid" | "same" | number | tf.backend_util.ExplicitPadding;
  readonly dataFormat: "NHWC" | "NCHW";
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

type Shape4D = [number, number, number, number];

function convInfo(inputShape: readonly number[], filterShape: readonly number[], attrs: ConvAttributes): ConvInfo {
  const { strides, pad, dimRoundingMode, dataFormat } = attrs;
  const format = tf.backend_util.convertConv2DDataFormat(dataFormat);
  if (format !== "channelsLast")
    throw new Error(`The WebAssembly backend convolves NHWC only; dataFormat is ${dataFormat}.`);
  return tf.backend_util.computeConv2DInfo(
    [...inputShape] as Shape4D,
    [...filterShape] as Shape4D,
    strides,
    1,
    pad,
    dimRoundingMode,
    false,
    format,
  );
}

const multiply = (
  backend: BackendWasm,
  a: tf.TensorInfo,
  b: tf.TensorInfo,
  transposeA = false,
  transposeB = false,
): tf.TensorInfo => callKernel(backend, tf.BatchMatMul, { a, b }, { transposeA, transposeB });

/** Output positions taken at a time: enough to fill the matrix kernel, few enough to stay in the cache. */
const chunkPositions = 2048;

/**
 * Conv2DBackpropFilter, which the stock backend lacks: columns (K × P) · dy (P × C), a few images at a time, their products
 * summed in double precision in the order of the images.
 */
export function conv2dBackpropFilter(
  args: KernelArguments<
    Record<"x" | "dy", tf.TensorInfo>,
    ConvAttributes & { readonly filterShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs } = args;
  const { x, dy } = args.inputs;
  const info = convInfo(x.shape, attrs.filterShape, attrs);
  const [patch, channels] = [patchSize(info), info.outChannels];
  const sums = new Float64Array(patch * channels);
  const step = Math.max(1, Math.floor(chunkPositions / positions(info)));
  for (let first = 0; first < info.batchSize; first += step) {
    const images = Math.min(step, info.batchSize - first);
    const columns = columnsOf(backend, info, x, first, images);
    const slice = sliceImages(backend, dy, first, images);
    const product = multiply(backend, columns, reshaped(slice, [images * positions(info), channels]));
    floats(backend, product).forEach((value, i) => {
      sums[i] = (sums[i] as number) + value;
    });
    dispose(backend, columns, slice, product);
  }
  const gradient = backend.makeOutput([...attrs.filterShape], "float32");
  floats(backend, gradient).set(sums);
  return gradient;
}

/** A copy of some images; the stock slice kernel would copy the whole tensor for each. */
function sliceImages(backend: BackendWasm, x: tf.TensorInfo, first: number, images: number): tf.TensorInfo {
  const rest = x.shape.slice(1);
  const size = tf.util.sizeFromShape(rest);
  const slice = backend.makeOutput([images, ...rest], "float32");
  floats(backend, slice).set(floats(backend, x).subarray(first * size, (first + images) * size));
  return slice;
}

function columnsOf(
  backend: BackendWasm,
  info: ConvInfo,
  x: tf.TensorInfo,
  first: number,
  images: number,
): tf.TensorInfo {
  const slice = sliceImages(backend, x, first, images);
  const pixels = images * info.inHeight * info.inWidth;
  const flat = reshaped(slice, [pixels, info.inChannels]);
  const planar = callKernel(backend, tf.Transpose, { x: flat }, { perm: [1, 0] });
  const columns = backend.makeOutput([patchSize(info), images * positions(info)], "float32");
  imageToColumns(info, images, floats(backend, planar), floats(backend, columns));
  dispose(backend, slice, planar);
  return columns;
}

/**
 * Conv2DBackpropInput; the stock kernel is a scalar loop, ten times slower. At stride 1 it is a convolution of dy with the
 * filter turned by 180° and its channels swapped; otherwise filter · dyᵀ gives the columns, which are added back.
 */
export function conv2dBackpropInput(
  args: KernelArguments<
    Record<"dy" | "filter", tf.TensorInfo>,
    ConvAttributes & { readonly inputShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs } = args;
  const { dy, filter } = args.inputs;
  const info = convInfo(attrs.inputShape, filter.shape, attrs);
  return info.strideHeight === 1 && info.strideWidth === 1
    ? byTurnedFilter(backend, info, dy, filter)
    : byColumns(backend, info, dy, filter);
}

function byTurnedFilter(backend: BackendWasm, info: ConvInfo, dy: tf.TensorInfo, filter: tf.TensorInfo): tf.TensorInfo {
  const turned = callKernel(backend, tf.Reverse, { x: filter }, { dims: [0, 1] });
  const swapped = callKernel(backend, tf.Transpose, { x: turned }, { perm: [0, 1, 3, 2] });
  const { top, bottom, left, right } = info.padInfo;
  const [height, width] = [info.filterHeight - 1, info.filterWidth - 1];
  const pad: tf.backend_util.ExplicitPadding = [
    [0, 0],
    [height - top, height - bottom],
    [width - left, width - right],
    [0, 0],
  ];
  const attrs = { strides: [1, 1], dilations: [1, 1], pad, dataFormat: "NHWC" };
  const dx = callKernel(backend, tf.Conv2D, { x: dy, filter: swapped }, attrs);
  dispose(backend, turned, swapped);
  return dx;
}

function byColumns(backend: BackendWasm, info: ConvInfo, dy: tf.TensorInfo, filter: tf.TensorInfo): tf.TensorInfo {
  const { batchSize, inChannels, inHeight, inWidth, outChannels } = info;
  const flatDy = reshaped(dy, [batchSize * positions(info), outChannels]);
  const flatFilter = reshaped(filter, [patchSize(info), outChannels]);
  const columns = multiply(backend, flatFilter, flatDy, false, true);
  const planar = backend.makeOutput([inChannels, batchSize * inHeight * inWidth], "float32");
  columnsToImage(info, batchSize, floats(backend, columns), floats(backend, planar));
  const dx = callKernel(backend, tf.Transpose, { x: planar }, { perm: [1, 0] });
  dispose(backend, columns, planar);
  return { ...dx, shape: info.inShape };
}
