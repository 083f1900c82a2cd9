/**
 * Convolutions and dilations of images. The stock backend lacks depthwise gradients; its dilation takes wrong elements.
 */
import * as tf from "@tensorflow/tfjs-core";
import { type ConvInfo, convolve, filterGradient, inputGradient, isTurnable, patchSize, positions } from "../simd/conv";
import { gemm } from "../simd/gemm";
import { simdOf } from "../simd/simd";
import { type Epilogue, finish } from "./elementwise";
import { type BackendWasm, floats, type KernelArguments, replaceKernel } from "./wasm-kernel";

interface ConvAttributes {
  readonly strides: [number, number] | number;
  readonly dilations?: [number, number] | number;
  readonly pad: "valid" | "same" | number | tf.backend_util.ExplicitPadding;
  readonly dataFormat: "NHWC" | "NCHW";
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

type Shape4D = [number, number, number, number];
type ConvInputs = Readonly<Record<"x" | "filter", tf.TensorInfo>>;

const float = 4;

function convInfo(inputShape: readonly number[], filterShape: readonly number[], attrs: ConvAttributes): ConvInfo {
  const { strides, dilations = 1, pad, dimRoundingMode, dataFormat } = attrs;
  const format = tf.backend_util.convertConv2DDataFormat(dataFormat);
  if (format !== "channelsLast")
    throw new Error(`The WebAssembly backend convolves NHWC only; dataFormat is ${dataFormat}.`);
  const shapes = [[...inputShape] as Shape4D, [...filterShape] as Shape4D] as const;
  return tf.backend_util.computeConv2DInfo(...shapes, strides, dilations, pad, dimRoundingMode, false, format);
}

function forward(backend: BackendWasm, { x, filter }: ConvInputs, attrs: ConvAttributes): tf.TensorInfo {
  const info = convInfo(x.shape, filter.shape, attrs);
  const y = backend.makeOutput(info.outShape, "float32");
  const simd = simdOf(backend);
  convolve(simd, info, simd.address(x), simd.address(filter), simd.address(y));
  return y;
}

export function registerConv2D(): void {
  replaceKernel<KernelArguments<ConvInputs, ConvAttributes>>(
    tf.Conv2D,
    () =>
      ({ backend, inputs, attrs }) =>
        forward(backend, inputs, attrs),
  );
  type FusedInputs = ConvInputs & Pick<Epilogue, "bias" | "preluActivationWeights">;
  type FusedAttributes = ConvAttributes & Pick<Epilogue, "activation" | "leakyreluAlpha">;
  replaceKernel<KernelArguments<FusedInputs, FusedAttributes>>(
    tf.FusedConv2D,
    () =>
      ({ backend, inputs, attrs }) =>
        finish(backend, forward(backend, inputs, attrs), { ...inputs, ...attrs }),
  );
}

/** Computes the gradient of the filter, which the stock backend lacks. */
export function conv2dBackpropFilter(
  args: KernelArguments<
    Record<"x" | "dy", tf.TensorInfo>,
    ConvAttributes & { readonly filterShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs } = args;
  const { x, dy } = args.inputs;
  const gradient = backend.makeOutput([...attrs.filterShape], "float32");
  const simd = simdOf(backend);
  const info = convInfo(x.shape, attrs.filterShape, attrs);
  if (info.batchSize * positions(info) === 0)
    simd.call["fillZero"]!(simd.address(gradient), patchSize(info) * info.outChannels * float);
  filterGradient(simd, info, simd.address(x), simd.address(dy), simd.address(gradient));
  return gradient;
}

/**
 * At stride 1 a convolution of dy with the filter rotated by 180° and with swapped channels, otherwise filter · dyᵀ.
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
  if (!isTurnable(info)) return byColumns(backend, info, dy, filter);
  const dx = backend.makeOutput(info.inShape, "float32");
  const simd = simdOf(backend);
  inputGradient(simd, info, simd.address(dy), simd.address(filter), simd.address(dx));
  return dx;
}

function byColumns(backend: BackendWasm, info: ConvInfo, dy: tf.TensorInfo, filter: tf.TensorInfo): tf.TensorInfo {
  const dx = backend.makeOutput(info.inShape, "float32");
  const simd = simdOf(backend);
  const [places, patch, channels] = [positions(info), patchSize(info), info.outChannels];
  const columns = simd.scratch("columns", places * patch * float);
  const imageSize = info.inHeight * info.inWidth * info.inChannels;
  for (let n = 0; n < info.batchSize; n++) {
    gemm(simd, {
      m: places,
      n: patch,
      k: channels,
      a: { at: simd.address(dy) + n * places * channels * float, row: channels * float, column: float },
      b: { at: simd.address(filter), row: float, column: channels * float },
      c: { at: columns, row: patch * float },
    });
    const image = simd.floats(simd.address(dx) + n * imageSize * float, imageSize);
    columnsToImage(info, simd.floats(columns, places * patch), image);
  }
  return dx;
}

/** Adds each patch in `columns` to its pixels of one NHWC image, which is overwritten. */
function columnsToImage(info: ConvInfo, columns: Float32Array, image: Float32Array): void {
  const { inHeight, inWidth, inChannels, outHeight, outWidth, filterHeight, filterWidth, padInfo } = info;
  image.fill(0);
  let at = 0;
  for (let oh = 0; oh < outHeight; oh++) {
    for (let ow = 0; ow < outWidth; ow++) {
      for (let kh = 0; kh < filterHeight; kh++) {
        const row = oh * info.strideHeight - padInfo.top + kh * info.dilationHeight;
        for (let kw = 0; kw < filterWidth; kw++, at += inChannels) {
          const column = ow * info.strideWidth - padInfo.left + kw * info.dilationWidth;
          if (row < 0 || row >= inHeight || column < 0 || column >= inWidth) continue;
          const pixel = (row * inWidth + column) * inChannels;
          for (let c = 0; c < inChannels; c++)
            image[pixel + c] = (image[pixel + c] as number) + (columns[at + c] as number);
        }
      }
    }
  }
}

interface DepthwiseAttributes {
  readonly strides: [number, number] | number;
  readonly dilations: [number, number] | number;
  readonly pad: "valid" | "same" | number | tf.backend_util.ExplicitPadding;
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

function depthwiseInfo(x: readonly number[], filter: readonly number[], attrs: DepthwiseAttributes): ConvInfo {
  const { strides, dilations, pad, dimRoundingMode } = attrs;
  const shapes = [[...x] as Shape4D, [...filter] as Shape4D] as const;
  return tf.backend_util.computeConv2DInfo(...shapes, strides, dilations, pad, dimRoundingMode, true);
}

/** Pixels of a row that one tap of the filter connects. The offsets are in elements. */
interface Row {
  readonly x: number;
  readonly dy: number;
  readonly filter: number;
  readonly pixels: number;
}

function forEachRow(info: ConvInfo, visit: (row: Row) => void): void {
  const { batchSize, outHeight, outWidth, inHeight, inWidth, inChannels, outChannels, strideWidth } = info;
  for (let n = 0; n < batchSize; n++) {
    for (let oh = 0; oh < outHeight; oh++) {
      for (let kh = 0; kh < info.filterHeight; kh++) {
        const ih = oh * info.strideHeight - info.padInfo.top + kh * info.dilationHeight;
        if (ih < 0 || ih >= inHeight) continue;
        for (let kw = 0; kw < info.filterWidth; kw++) {
          const shift = kw * info.dilationWidth - info.padInfo.left;
          const first = Math.max(0, Math.ceil(-shift / strideWidth));
          const end = Math.min(outWidth, Math.floor((inWidth - 1 - shift) / strideWidth) + 1);
          if (first >= end) continue;
          visit({
            x: ((n * inHeight + ih) * inWidth + first * strideWidth + shift) * inChannels,
            dy: ((n * outHeight + oh) * outWidth + first) * outChannels,
            filter: (kh * info.filterWidth + kw) * outChannels,
            pixels: end - first,
          });
        }
      }
    }
  }
}

/** Calls `visit` with the offsets of each channel of x in a row, and of its outputs. */
function forEachChannel(info: ConvInfo, row: Row, visit: (x: number, dy: number, filter: number) => void): void {
  const multiplier = info.outChannels / info.inChannels;
  for (let pixel = 0; pixel < row.pixels; pixel++) {
    const x = row.x + pixel * info.strideWidth * info.inChannels;
    const dy = row.dy + pixel * info.outChannels;
    for (let out = 0; out < info.outChannels; out++) {
      visit(x + Math.floor(out / multiplier), dy + out, row.filter + out);
    }
  }
}

const isVectorized = ({ inChannels, outChannels }: ConvInfo) => inChannels === outChannels && inChannels % 4 === 0;

/** Computes the gradient of the filter in double precision: a tap is applied at every position of every image. */
export function depthwiseBackpropFilter(
  args: KernelArguments<
    Record<"x" | "dy", tf.TensorInfo>,
    DepthwiseAttributes & { readonly filterShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs, inputs } = args;
  const info = depthwiseInfo(inputs.x.shape, attrs.filterShape, attrs);
  const gradient = backend.makeOutput([...attrs.filterShape], "float32");
  const sums = new Float64Array(tf.util.sizeFromShape([...attrs.filterShape]));
  if (isVectorized(info)) {
    const simd = simdOf(backend);
    const [x, dy] = [simd.address(inputs.x), simd.address(inputs.dy)];
    const pixel = info.inChannels * float;
    const to = simd.scratch("sums", pixel);
    const rowSums = simd.floats(to, info.inChannels);
    const sumProducts = simd.call["sumProducts"]!;
    forEachRow(info, (row) => {
      sumProducts(to, x + row.x * float, dy + row.dy * float, row.pixels, info.strideWidth * pixel, pixel);
      for (let i = 0; i < rowSums.length; i++) {
        sums[row.filter + i] = (sums[row.filter + i] as number) + (rowSums[i] as number);
      }
    });
  } else {
    const [x, dy] = [floats(backend, inputs.x), floats(backend, inputs.dy)];
    forEachRow(info, (row) =>
      forEachChannel(info, row, (xAt, dyAt, filterAt) => {
        sums[filterAt] = (sums[filterAt] as number) + (x[xAt] as number) * (dy[dyAt] as number);
      }),
    );
  }
  floats(backend, gradient).set(sums);
  return gradient;
}

export function depthwiseBackpropInput(
  args: KernelArguments<
    Record<"dy" | "filter", tf.TensorInfo>,
    DepthwiseAttributes & { readonly inputShape: readonly number[] }
  >,
): tf.TensorInfo {
  const { backend, attrs, inputs } = args;
  const info = depthwiseInfo(attrs.inputShape, inputs.filter.shape, attrs);
  const gradient = backend.makeOutput([...attrs.inputShape], "float32");
  const dx = floats(backend, gradient).fill(0);
  if (isVectorized(info)) {
    const simd = simdOf(backend);
    const [into, dy, filter] = [gradient, inputs.dy, inputs.filter].map((each) => simd.address(each));
    const pixel = info.inChannels * float;
    const addProducts = simd.call["addProducts"]!;
    forEachRow(info, (row) => {
      const at = [into! + row.x * float, dy! + row.dy * float, filter! + row.filter * float] as const;
      addProducts(...at, row.pixels, info.strideWidth * pixel, pixel);
    });
  } else {
    const [dy, filter] = [floats(backend, inputs.dy), floats(backend, inputs.filter)];
    forEachRow(info, (row) =>
      forEachChannel(info, row, (xAt, dyAt, filterAt) => {
        dx[xAt] = (dx[xAt] as number) + (dy[dyAt] as number) * (filter[filterAt] as number);
      }),
    );
  }
  return gradient;
}

interface DilationAttributes {
  readonly strides: [number, number] | number;
  readonly dilations: [number, number] | number;
  readonly pad: "valid" | "same" | number;
}

type Inputs<Names extends string> = KernelArguments<Record<Names, tf.TensorInfo>, DilationAttributes>;

/**
 * Calls `visit` with an output's position and those in x and filter whose sum is the largest; the first of equal sums.
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
