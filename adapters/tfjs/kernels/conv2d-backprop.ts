import * as tf from "@tensorflow/tfjs-core";
import { type ConvInfo, columnsToImage, imageToColumns, isPointwise, patchSize, positions } from "./im2col";
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

const multiply = (backend: BackendWasm, a: tf.TensorInfo, b: tf.TensorInfo, transposeA = false, transposeB = false) =>
  callKernel(backend, tf.BatchMatMul, { a, b }, { transposeA, transposeB });

/**
 * Conv2DBackpropFilter, which the stock backend lacks: columnsᵀ (K × P) · dy (P × C). The product is taken with the narrower
 * of the two matrices transposed, so as to move the least memory.
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
  const [rows, patch, channels] = [positions(info), patchSize(info), info.outChannels];
  const pointwise = isPointwise(info);
  const columns = pointwise ? reshaped(x, [rows, patch]) : backend.makeOutput([rows, patch], "float32");
  if (!pointwise) imageToColumns(info, floats(backend, x), floats(backend, columns));
  const flatDy = reshaped(dy, [rows, channels]);

  let gradient: tf.TensorInfo;
  if (patch < channels) gradient = multiply(backend, columns, flatDy, true);
  else {
    const transposed = multiply(backend, flatDy, columns, true);
    gradient = callKernel(backend, tf.Transpose, { x: transposed }, { perm: [1, 0] });
    dispose(backend, transposed);
  }
  if (!pointwise) dispose(backend, columns);
  return { ...gradient, shape: [...attrs.filterShape] };
}

/**
 * Conv2DBackpropInput; the stock kernel is a scalar loop, ten times slower. At stride 1 it is a convolution of dy with the
 * filter turned by 180° and its channels swapped; otherwise dy · filterᵀ gives the columns, which are added back.
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
  const flatDy = reshaped(dy, [positions(info), info.outChannels]);
  const flatFilter = reshaped(filter, [patchSize(info), info.outChannels]);
  const columns = multiply(backend, flatDy, flatFilter, false, true);
  const dx = backend.makeOutput(info.inShape, "float32");
  columnsToImage(info, floats(backend, columns), floats(backend, dx));
  dispose(backend, columns);
  return dx;
}
