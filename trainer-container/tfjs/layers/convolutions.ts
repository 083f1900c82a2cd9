/**
 * Completes TensorFlow.js's convolutions: causal padding, dilated depthwise ones, dilation without activation; and
 * normalized volumes.
 */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";

interface Convolution {
  readonly kernelSize: readonly number[];
  readonly strides: readonly number[];
  readonly dilationRate: number | readonly number[];
  readonly padding: "valid" | "same" | "causal";
  readonly dataFormat: string;
  readonly depthMultiplier: number;
  readonly filters: number;
  readonly kernel: { read(): tf.Tensor };
  readonly depthwiseKernel: { read(): tf.Tensor };
  readonly bias?: { read(): tf.Tensor } | null;
  readonly activation?: { apply(x: tf.Tensor): tf.Tensor } | null;
  call(inputs: tf.Tensor | tf.Tensor[], options: unknown): tf.Tensor;
  computeOutputShape(shape: Shape | Shape[]): Shape;
}

type Shape = (number | null)[];

type Products = (layer: Convolution, x: tf.Tensor) => tf.Tensor;

let completed = false;

export function completeConvolutions(): void {
  if (completed) return;
  completed = true;
  const series = complete(layers.conv1d({ filters: 1, kernelSize: 1 }), isCausal, (layer, x) => {
    const early = tf.pad(x as tf.Tensor3D, [[0, 0], [reach(layer, 0), 0], [0, 0]]); // biome-ignore format: an axis each
    const [stride] = layer.strides as [number];
    return tf.conv1d(early, layer.kernel.read() as tf.Tensor3D, stride, "valid", "NWC", dilation(layer, 0));
  });
  const { computeOutputShape } = series;
  series.computeOutputShape = function (shape) {
    if (!isCausal(this)) return computeOutputShape.call(this, shape);
    const [batch, length] = one(shape);
    return [batch ?? null, length == null ? null : Math.ceil(length / this.strides[0]!), this.filters];
  };
  complete(layers.conv2d({ filters: 1, kernelSize: 1 }), isDilated, (layer, x) =>
    tf.conv2d(x as tf.Tensor4D, layer.kernel.read() as tf.Tensor4D, ...placesOf(layer)),
  );
  const depthwise = complete(layers.depthwiseConv2d({ kernelSize: 1 }), isDilated, (layer, x) =>
    tf.depthwiseConv2d(x as tf.Tensor4D, layer.depthwiseKernel.read() as tf.Tensor4D, ...placesOf(layer)),
  );
  const { computeOutputShape: stockShape } = depthwise;
  depthwise.computeOutputShape = function (shape) {
    if (!isDilated(this)) return stockShape.call(this, shape);
    const [batch, height, width, channels] = one(shape);
    const sizes = [height, width].map((size, axis) => {
      if (size == null) return null;
      return Math.ceil((this.padding === "same" ? size : size - reach(this, axis)) / this.strides[axis]!);
    });
    return [batch ?? null, ...sizes, channels! * this.depthMultiplier];
  };
}

/** Returns whether stock TensorFlow.js refuses a layer of this class and configuration, or computes it differently. */
export function isIncomplete(className: string, config: Readonly<Record<string, unknown>>): boolean {
  if (className === "Conv1D") return config["padding"] === "causal";
  return className === "DepthwiseConv2D" && [config["dilationRate"] ?? 1].flat().some((rate) => rate !== 1);
}

function complete(sample: unknown, applies: (layer: Convolution) => boolean, products: Products): Convolution {
  const prototype = Object.getPrototypeOf(sample) as Convolution;
  const { call } = prototype;
  prototype.call = function (inputs, options) {
    if (!applies(this)) return call.call(this, inputs, options);
    return tf.tidy(() => {
      const sums = products(this, (Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor);
      const biased = this.bias ? tf.add(sums, this.bias.read()) : sums;
      return this.activation ? this.activation.apply(biased) : biased;
    });
  };
  return prototype;
}

const isCausal = ({ padding, dataFormat }: Convolution): boolean =>
  padding === "causal" && dataFormat === "channelsLast";

const isDilated = (layer: Convolution): boolean =>
  layer.dataFormat === "channelsLast" && [layer.dilationRate].flat().some((rate) => rate > 1);

const dilation = ({ dilationRate }: Convolution, axis: number): number => [dilationRate].flat()[axis]!;

/** Returns the distance between the first and the last place of a window. */
const reach = (layer: Convolution, axis: number): number => (layer.kernelSize[axis]! - 1) * dilation(layer, axis);

const one = (shape: Shape | Shape[]): Shape => (Array.isArray(shape[0]) ? shape[0] : shape) as Shape;

function placesOf(layer: Convolution) {
  const [down, across] = layer.strides as [number, number];
  const padding = layer.padding === "same" ? "same" : "valid";
  return [[down, across], padding, "NHWC", [dilation(layer, 0), dilation(layer, 1)]] as [
    [number, number],
    "same" | "valid",
    "NHWC",
    [number, number],
  ];
}

interface Variable {
  read(): tf.Tensor;
}

interface BatchNormalizationLayer {
  readonly axis: number;
  readonly epsilon: number;
  readonly gamma?: Variable | null;
  readonly beta?: Variable | null;
  readonly movingMean: Variable;
  readonly movingVariance: Variable;
  call(inputs: tf.Tensor | tf.Tensor[], options?: Readonly<Record<string, unknown>>): tf.Tensor;
}

/** The maximum rank, including the axis of rows, for which stock TensorFlow.js normalizes in inference. */
export const stockRank = 4;

let installed = false;

/** Makes batch normalization accept volumes in inference, for this process. Training keeps the stock computation. */
export function inferVolumes(): void {
  if (installed) return;
  installed = true;
  const prototype = Object.getPrototypeOf(layers.batchNormalization()) as BatchNormalizationLayer;
  const { call } = prototype;
  prototype.call = function (this: BatchNormalizationLayer, inputs, options) {
    const x = (Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor;
    if (options?.["training"] === true || x.rank <= stockRank) return call.call(this, inputs, options);
    return tf.tidy(() => infer(this, x));
  };
}

/** Normalizes x as `[outer, channels, inner]`. */
function infer(layer: BatchNormalizationLayer, x: tf.Tensor): tf.Tensor {
  const axis = layer.axis >= 0 ? layer.axis : layer.axis + x.rank;
  const channels = x.shape[axis] as number;
  const column = (variable: Variable): tf.Tensor => tf.reshape(variable.read(), [channels, 1]);
  const deviation = tf.rsqrt(tf.add(column(layer.movingVariance), layer.epsilon));
  const factor: tf.Tensor = layer.gamma ? tf.mul(deviation, column(layer.gamma)) : deviation;
  const images = tf.reshape(x, [-1, channels, tf.util.sizeFromShape(x.shape.slice(axis + 1))]);
  const scaled: tf.Tensor = tf.mul(tf.sub(images, column(layer.movingMean)), factor);
  return tf.reshape(layer.beta ? tf.add(scaled, column(layer.beta)) : scaled, x.shape);
}
