/** Kernels of volumes, and of average pooling with padding, that give wrong results in the stock backend. */
import * as tf from "@tensorflow/tfjs-core";
import { type PoolAttributes, poolInfo } from "./max-pool";
import { maxPoolGrad } from "./max-pool-grad";
import { type BackendWasm, floats, type KernelArguments, replaceKernel } from "./wasm-kernel";
import { areInside, forEachMeeting, type Windows, windowsOf } from "./windows";

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
