import * as tf from "@tensorflow/tfjs-core";
import { type ConvInfo, convolve, filterGradient, inputGradient, isTurnable, patchSize, positions } from "../simd/conv";
import { gemm } from "../simd/gemm";
import { simdOf } from "../simd/simd";
import { type Epilogue, finish } from "./bias-activation";
import { type BackendWasm, type KernelArguments, replaceKernel } from "./wasm-kernel";

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

/** Registers both convolutions with this folder's matrix kernel. */
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
 * Computes the gradient of the input, for which the stock kernel is a scalar loop. At stride 1 it is a convolution of
 * dy with the filter rotated by 180° and with swapped channels. Otherwise filter · dyᵀ gives the columns, which are
 * added to the image.
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

/**
 * Adds each element of `columns` (a patch for each output position) to its pixel of one NHWC image. `image` is
 * overwritten.
 */
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
