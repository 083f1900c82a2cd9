/** Pooling, and volumes' gradients. Stock kernels are wrong for volumes and for average pooling with padding. */
import * as tf from "@tensorflow/tfjs-core";
import { isWhole, maxPool, maxPoolGradient, type PoolInfo } from "../simd/conv";
import { simdOf } from "../simd/simd";
import { type BackendWasm, floats, type KernelArguments, replaceKernel } from "./wasm-kernel";

type Axes = readonly [depth: number, height: number, width: number];

/** An image is a volume of depth 1. */
interface Windows {
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

function windowsOf(info: tf.backend_util.Conv2DInfo | tf.backend_util.Conv3DInfo): Windows {
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

function areInside({ inputs, outputs, filter, strides, padding }: Windows): boolean {
  return inputs.every((size, axis) => {
    const last = (outputs[axis]! - 1) * strides[axis]! - padding[axis]! + filter[axis]!;
    return padding[axis] === 0 && last <= size;
  });
}

/**
 * Calls `visit` with each output and, in order, its window's inputs. A position counts pixels from the batch's first.
 * @param visit `tap`: the position in the filter; `count`: the window's positions inside the volume
 */
function forEachMeeting(
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

/** The gradient goes to the first input that equals the output. Stock kernels lose it if all inputs are negative. */
function maxPoolGrad(
  backend: BackendWasm,
  inputs: Readonly<Record<"dy" | "input" | "output", tf.TensorInfo>>,
  info: tf.backend_util.Conv2DInfo | tf.backend_util.Conv3DInfo,
): tf.TensorInfo {
  const gradient = backend.makeOutput(inputs.input.shape, "float32");
  const [x, y, dy] = [floats(backend, inputs.input), floats(backend, inputs.output), floats(backend, inputs.dy)];
  const dx = floats(backend, gradient).fill(0);
  const channels = info.inChannels;
  const lastOutput = new Int32Array(channels).fill(-1); // By channel, the last output whose gradient was assigned.

  forEachMeeting(windowsOf(info), (from, to) => {
    const [input, output] = [from * channels, to * channels];
    for (let channel = 0; channel < channels; channel++) {
      if (x[input + channel] !== y[output + channel] || lastOutput[channel] === output) continue;
      lastOutput[channel] = output;
      dx[input + channel] = (dx[input + channel] as number) + (dy[output + channel] as number);
    }
  });
  return gradient;
}

interface PoolAttributes {
  readonly filterSize: [number, number] | number;
  readonly strides: [number, number] | number;
  readonly pad: "valid" | "same" | number;
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

function poolInfo(x: tf.TensorInfo, { filterSize, strides, pad, dimRoundingMode }: PoolAttributes): PoolInfo {
  const shape = x.shape as [number, number, number, number];
  return tf.backend_util.computePool2DInfo(shape, filterSize, strides, 1, pad, dimRoundingMode);
}

function pool(backend: BackendWasm, x: tf.TensorInfo, info: PoolInfo): tf.TensorInfo {
  const y = backend.makeOutput(info.outShape, "float32");
  const simd = simdOf(backend);
  maxPool(simd, info, simd.address(x), simd.address(y));
  return y;
}

type GradientInputs = Readonly<Record<"dy" | "input" | "output", tf.TensorInfo>>;

function gradient(backend: BackendWasm, { input, output, dy }: GradientInputs, info: PoolInfo): tf.TensorInfo {
  const dx = backend.makeOutput(info.inShape, "float32");
  const simd = simdOf(backend);
  const [x, y] = [simd.address(input), simd.address(output)];
  maxPoolGradient(simd, info, { x, y, dy: simd.address(dy), dx: simd.address(dx) });
  return dx;
}

export function registerMaxPool(): void {
  replaceKernel<KernelArguments<Record<"x", tf.TensorInfo>, PoolAttributes>>(tf.MaxPool, (stock) => (args) => {
    const info = poolInfo(args.inputs.x, args.attrs);
    return args.inputs.x.dtype === "float32" && isWhole(info) ? pool(args.backend, args.inputs.x, info) : stock(args);
  });
  type Gradient = KernelArguments<GradientInputs, PoolAttributes>;
  replaceKernel<Gradient>(tf.MaxPoolGrad, () => (args) => {
    const info = poolInfo(args.inputs.input, args.attrs);
    return isWhole(info) ? gradient(args.backend, args.inputs, info) : maxPoolGrad(args.backend, args.inputs, info);
  });
}

type Shape5D = [number, number, number, number, number];
type Sizes = [number, number, number] | number;

interface VolumePool {
  readonly filterSize: Sizes;
  readonly strides: Sizes;
  readonly pad: "valid" | "same" | number;
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

interface VolumeConvolution {
  readonly strides: Sizes;
  readonly pad: "valid" | "same";
  readonly inputShape?: Shape5D;
  readonly filterShape?: Shape5D;
}

const poolInfo3D = (x: tf.TensorInfo, { filterSize, strides, pad, dimRoundingMode }: VolumePool) =>
  tf.backend_util.computePool3DInfo(x.shape as Shape5D, filterSize, strides, 1, pad, dimRoundingMode);

export function registerVolumes(): void {
  registerMaxPool3D();
  registerAveragePoolGradients();
  registerConvolutionGradients();
}

/** The stock kernel's maximum is at least the smallest positive number. */
function registerMaxPool3D(): void {
  replaceKernel<KernelArguments<Record<"x", tf.TensorInfo>, VolumePool>>(tf.MaxPool3D, (stock) => (args) => {
    const { backend, attrs } = args;
    const { x } = args.inputs;
    if (x.dtype !== "float32") return stock(args);
    const info = poolInfo3D(x, attrs);
    const maxima = backend.makeOutput(info.outShape, "float32");
    const [from, into] = [floats(backend, x), floats(backend, maxima).fill(Number.NEGATIVE_INFINITY)];
    const { inChannels: channels } = info;
    forEachMeeting(windowsOf(info), (input, output) => {
      for (let channel = 0; channel < channels; channel++) {
        const value = from[input * channels + channel] as number;
        const at = output * channels + channel;
        if (value > (into[at] as number) || Number.isNaN(value)) into[at] = value;
      }
    });
    return maxima;
  });
  type Gradient = KernelArguments<Readonly<Record<"dy" | "input" | "output", tf.TensorInfo>>, VolumePool>;
  replaceKernel<Gradient>(
    tf.MaxPool3DGrad,
    () =>
      ({ backend, inputs, attrs }) =>
        maxPoolGrad(backend, inputs, poolInfo3D(inputs.input, attrs)),
  );
}

/** The stock kernels divide by the size of the whole window, and the forward pass by the part of it without padding. */
function registerAveragePoolGradients(): void {
  type Gradient<Attributes> = KernelArguments<Readonly<Record<"dy" | "input", tf.TensorInfo>>, Attributes>;
  replaceKernel<Gradient<PoolAttributes>>(tf.AvgPoolGrad, (stock) => (args) => {
    const windows = windowsOf(poolInfo(args.inputs.input, args.attrs));
    return areInside(windows) ? stock(args) : averagePoolGradient(args.backend, args.inputs, windows);
  });
  replaceKernel<Gradient<VolumePool>>(tf.AvgPool3DGrad, (stock) => (args) => {
    const windows = windowsOf(poolInfo3D(args.inputs.input, args.attrs));
    return areInside(windows) ? stock(args) : averagePoolGradient(args.backend, args.inputs, windows);
  });
}

function averagePoolGradient(
  backend: BackendWasm,
  inputs: Readonly<Record<"dy" | "input", tf.TensorInfo>>,
  windows: Windows,
): tf.TensorInfo {
  const gradient = backend.makeOutput(inputs.input.shape, "float32");
  const [dy, dx] = [floats(backend, inputs.dy), floats(backend, gradient).fill(0)];
  const { channels } = windows;
  forEachMeeting(windows, (input, output, _, count) => {
    for (let channel = 0; channel < channels; channel++) {
      const at = input * channels + channel;
      dx[at] = (dx[at] as number) + (dy[output * channels + channel] as number) / count;
    }
  });
  return gradient;
}

/** The stock kernels of the input's gradient, and of the filter's for strides above 1, read other positions. */
function registerConvolutionGradients(): void {
  type Input = KernelArguments<Readonly<Record<"dy" | "filter", tf.TensorInfo>>, VolumeConvolution>;
  replaceKernel<Input>(tf.Conv3DBackpropInputV2, () => ({ backend, inputs: { dy, filter }, attrs }) => {
    const shape = attrs.inputShape as Shape5D;
    const windows = convolution(shape, filter.shape as Shape5D, attrs);
    const gradient = backend.makeOutput(shape, "float32");
    const [weights, from, into] = [floats(backend, filter), floats(backend, dy), floats(backend, gradient).fill(0)];
    const { channels, outChannels } = windows;
    forEachMeeting(windows, (input, output, tap) => {
      for (let channel = 0; channel < channels; channel++) {
        const row = (tap * channels + channel) * outChannels;
        let sum = 0;
        for (let out = 0; out < outChannels; out++) {
          sum += (weights[row + out] as number) * (from[output * outChannels + out] as number);
        }
        into[input * channels + channel] = (into[input * channels + channel] as number) + sum;
      }
    });
    return gradient;
  });
  type Filter = KernelArguments<Readonly<Record<"x" | "dy", tf.TensorInfo>>, VolumeConvolution>;
  replaceKernel<Filter>(tf.Conv3DBackpropFilterV2, (stock) => (args) => {
    const { backend, attrs } = args;
    const { x, dy } = args.inputs;
    const shape = attrs.filterShape as Shape5D;
    const windows = convolution(x.shape as Shape5D, shape, attrs);
    if (windows.strides.every((stride) => stride === 1)) return stock(args);
    const gradient = backend.makeOutput(shape, "float32");
    const [from, by] = [floats(backend, x), floats(backend, dy)];
    const sums = new Float64Array(tf.util.sizeFromShape(shape));
    const { channels, outChannels } = windows;
    forEachMeeting(windows, (input, output, tap) => {
      for (let channel = 0; channel < channels; channel++) {
        const value = from[input * channels + channel] as number;
        const row = (tap * channels + channel) * outChannels;
        for (let out = 0; out < outChannels; out++) {
          sums[row + out] = (sums[row + out] as number) + value * (by[output * outChannels + out] as number);
        }
      }
    });
    floats(backend, gradient).set(sums);
    return gradient;
  });
}

const convolution = (input: Shape5D, filter: Shape5D, { strides, pad }: VolumeConvolution): Windows =>
  windowsOf(tf.backend_util.computeConv3DInfo(input, filter, strides, 1, pad));
