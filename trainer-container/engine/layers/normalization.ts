/**
 * Batch and layer normalization (Ioffe and Szegedy, 2015; Ba et al., 2016). TensorFlow adds each channel in sequence,
 * an error of 1e-5 at 10⁵ values. Here sums have two levels, and the error grows with about √M: a mean's error shifts
 * whole channels, so signs change in a following ReLU.
 */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import { columnSums, exactMatMul } from "./exact";

/** A backend's kernels may replace these, for `inner` = 1. Outputs: those of `normalizeChannels`. */
export const batchNormalizationKernel = "BatchNormalization";
/** Inputs: `dy`, `x`, `scale`, `mean`, `variance`. Outputs: those of `normalizationGradient`. */
export const batchNormalizationGradientKernel = "BatchNormalizationGradient";

/** Returns each channel's sum, `[channels]`. */
function channelSums(x: tf.Tensor3D): tf.Tensor1D {
  const [outer, channels, inner] = x.shape;
  const rows = inner === 1 ? x : exactMatMul(tf.reshape(x, [outer * channels, inner]), tf.ones<tf.Rank.R2>([inner, 1]));
  return columnSums(tf.reshape(rows, [outer, channels]));
}

/** Gives a vector by channel the shape that broadcasts over x. */
const along = (x: tf.Tensor3D, vector: tf.Tensor): tf.Tensor =>
  x.shape[2] === 1 ? tf.reshape(vector, [1, -1, 1]) : tf.reshape(vector, [-1, 1]);

const valuesOf = ({ shape: [outer, , inner] }: tf.Tensor3D): number => outer * inner;

/** Returns the result, and the mean and the variance of each channel (without Bessel's correction). */
export function normalizeChannels(x: tf.Tensor3D, scale: tf.Tensor, offset: tf.Tensor, epsilon: number): tf.Tensor[] {
  const count = valuesOf(x);
  const mean = tf.div(channelSums(x), count);
  const centred: tf.Tensor3D = tf.sub(x, along(x, mean));
  const variance = tf.div(channelSums(tf.mul(centred, centred)), count);
  const factor = tf.mul(tf.rsqrt(tf.add(variance, epsilon)), scale);
  return [tf.add(tf.mul(centred, along(x, factor)), along(x, offset)), mean, variance];
}

/** With r = 1 / √(variance + ε), x̂ = (x − mean)·r: scale·r·(dy − Σdy/M − x̂·Σ(dy·x̂)/M), Σ(dy·x̂), Σdy. */
export function normalizationGradient(
  dy: tf.Tensor3D,
  x: tf.Tensor3D,
  scale: tf.Tensor,
  mean: tf.Tensor,
  variance: tf.Tensor,
  epsilon: number,
): tf.Tensor[] {
  const inverse = tf.rsqrt(tf.add(variance, epsilon));
  const centred: tf.Tensor3D = tf.sub(x, along(x, mean));
  const dOffset = channelSums(dy);
  const dScale = tf.mul(channelSums(tf.mul(dy, centred)), inverse);
  const { ofDy, ofCentred, constant } = gradientFactors({ inverse, scale, dScale, dOffset, count: valuesOf(x) });
  const shifted = tf.add(tf.mul(centred, along(x, ofCentred)), along(x, constant));
  return [tf.add(tf.mul(dy, along(x, ofDy)), shifted), dScale, dOffset];
}

/** Returns the factors of the gradient by x as a sum: dy · ofDy + (x − mean) · ofCentred + constant. */
export function gradientFactors(sums: {
  readonly inverse: tf.Tensor;
  readonly scale: tf.Tensor;
  readonly dScale: tf.Tensor;
  readonly dOffset: tf.Tensor;
  readonly count: number;
}) {
  const { inverse, scale, dScale, dOffset, count } = sums;
  const ofDy = tf.mul(scale, inverse);
  const byCount = tf.div(ofDy, -count);
  return { ofDy, ofCentred: tf.mul(tf.mul(byCount, inverse), dScale), constant: tf.mul(byCount, dOffset) };
}

interface Variable {
  read(): tf.Tensor;
  write(value: tf.Tensor): void;
}

interface BatchNormalizationLayer {
  readonly axis: number;
  readonly momentum: number;
  readonly epsilon: number;
  readonly gamma?: Variable | null;
  readonly beta?: Variable | null;
  readonly movingMean: Variable;
  readonly movingVariance: Variable;
  call(inputs: tf.Tensor | tf.Tensor[], options: Readonly<Record<string, unknown>>): tf.Tensor;
}

interface Normalized {
  readonly result: tf.Tensor;
  readonly mean: tf.Tensor;
  /** Mean of the squared differences, without Bessel's correction. */
  readonly variance: tf.Tensor;
}

let batchInstalled = false;

/** Installs the computation for this process. It also trains layers without `scale` or `center`, on which the stock one fails. */
export function installBatchNormalization(): void {
  if (batchInstalled) return;
  batchInstalled = true;
  const prototype = Object.getPrototypeOf(layers.batchNormalization()) as BatchNormalizationLayer;
  const { call } = prototype;
  prototype.call = function (this: BatchNormalizationLayer, inputs, options) {
    if (options["training"] !== true) return call.call(this, inputs, options);
    return tf.tidy(() => {
      const { result, mean, variance } = normalize(this, (Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor);
      moveTowards(this.movingMean, mean, this.momentum);
      moveTowards(this.movingVariance, variance, this.momentum);
      return result;
    });
  };
}

/** Computes the exponential moving average, with the operations of the stock layer. */
function moveTowards(average: Variable, value: tf.Tensor, momentum: number): void {
  const old = average.read();
  average.write(tf.sub(old, tf.mul(tf.sub(old, value), 1 - momentum)));
}

/** Normalizes x as `[outer, channels, inner]`. The gradient's sums are as exact as those of the statistics. */
function normalize({ axis, epsilon, gamma, beta }: BatchNormalizationLayer, x: tf.Tensor): Normalized {
  const channelAxis = axis >= 0 ? axis : axis + x.rank;
  const channels = x.shape[channelAxis] as number;
  const inner = tf.util.sizeFromShape(x.shape.slice(channelAxis + 1));
  const fused = inner === 1 && tf.getKernel(batchNormalizationKernel, tf.getBackend()) !== undefined;
  const statistics: tf.Tensor[] = [];
  const compute = tf.customGrad((...given) => {
    const [images, scale, offset, save] = given as unknown as [
      tf.Tensor3D,
      tf.Tensor,
      tf.Tensor,
      (tensors: tf.Tensor[]) => void,
    ];
    const named = { x: images, scale, offset };
    const [value, mean, variance] = fused
      ? (tf.engine().runKernel(batchNormalizationKernel, named, { epsilon }) as tf.Tensor[])
      : normalizeChannels(images, scale, offset, epsilon);
    statistics.push(...[mean, variance].map((each) => tf.keep(each as tf.Tensor)));
    save([images, scale, mean as tf.Tensor, variance as tf.Tensor]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const all = saved as [tf.Tensor3D, tf.Tensor, tf.Tensor, tf.Tensor];
      if (!fused) return normalizationGradient(dy as tf.Tensor3D, ...all, epsilon);
      const byName = { dy, x: all[0], scale: all[1], mean: all[2], variance: all[3] };
      return tf.engine().runKernel(batchNormalizationGradientKernel, byName, { epsilon }) as tf.Tensor[];
    };
    return { value: value as tf.Tensor, gradFunc };
  });
  const [scale, offset] = [gamma?.read() ?? tf.ones([channels]), beta?.read() ?? tf.zeros([channels])];
  const result = tf.reshape(compute(tf.reshape(x, [-1, channels, inner]), scale, offset), x.shape);
  const [mean, variance] = statistics.map((each) => tf.clone(each)) as [tf.Tensor, tf.Tensor];
  for (const each of statistics) each.dispose();
  return { result, mean, variance };
}

interface LayerNormalizationLayer {
  readonly axis: number | readonly number[];
  readonly epsilon: number;
  readonly gamma?: { read(): tf.Tensor } | null;
  readonly beta?: { read(): tf.Tensor } | null;
  call(inputs: tf.Tensor | tf.Tensor[], options: unknown): tf.Tensor;
}

/**
 * A backend may compute x · scale + offset as one kernel. Inputs: `x` `[rows, width]`, `scale` and `offset` `[width]`.
 */
export const scaleAndShiftKernel = "ScaleAndShift";

/** Up to this width, means are products with a matrix of 1/width: short loops are several times slower. */
const productWidth = 64;

let layerInstalled = false;

/** Installs the computation for this process. It also trains layers without `scale` or `center`. */
export function installLayerNormalization(): void {
  if (layerInstalled) return;
  layerInstalled = true;
  const prototype = Object.getPrototypeOf(layers.layerNormalization()) as LayerNormalizationLayer;
  const { call } = prototype;
  prototype.call = function (this: LayerNormalizationLayer, inputs, options) {
    const x = (Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor;
    const axes = typeof this.axis === "number" ? [this.axis] : this.axis;
    if (axes.length !== 1 || (axes[0] !== -1 && axes[0] !== x.rank - 1)) return call.call(this, inputs, options);
    const width = x.shape[x.rank - 1] as number;
    return tf.tidy(() => {
      const rows = tf.reshape(x, [-1, width]) as tf.Tensor2D;
      const [scale, offset] = [this.gamma?.read() ?? tf.ones([width]), this.beta?.read() ?? tf.zeros([width])];
      const normalize = width <= productWidth ? normalizeNarrow : normalizeWide;
      return tf.reshape(normalize(rows, scale as tf.Tensor1D, offset as tf.Tensor1D, this.epsilon), x.shape);
    });
  };
}

/**
 * y = x̂·γ + β of each row; the gradient by x is r·(dy·γ − mean(dy·γ) − x̂·mean(dy·x̂·γ)), by products with γ / width.
 */
function normalizeWide(x: tf.Tensor2D, scale: tf.Tensor1D, offset: tf.Tensor1D, epsilon: number): tf.Tensor {
  const width = x.shape[1];
  const meanOf = (rows: tf.Tensor): tf.Tensor => tf.mean(rows, 1, true);
  const compute = tf.customGrad((...given) => {
    const [rows, gamma, beta] = given as [tf.Tensor2D, tf.Tensor1D, tf.Tensor1D];
    const save = given.at(-1) as unknown as (tensors: tf.Tensor[]) => void;
    const mean = meanOf(rows);
    const factor = tf.rsqrt(tf.add(meanOf(tf.squaredDifference(rows, mean)), epsilon));
    const normal = tf.mul(tf.sub(rows, mean), factor);
    save([normal, factor, gamma]);
    const gradFunc = (output: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const dy = output as tf.Tensor2D;
      const [savedNormal, savedFactor, savedGamma] = saved as [tf.Tensor2D, tf.Tensor2D, tf.Tensor1D];
      const column: tf.Tensor2D = tf.div(tf.reshape(savedGamma, [width, 1]), width);
      const products: tf.Tensor2D = tf.mul(dy, savedNormal);
      const along = tf.mul(savedNormal, exactMatMul(products, column));
      const direct = tf.sub(tf.mul(dy, savedGamma), exactMatMul(dy, column));
      return [tf.mul(savedFactor, tf.sub(direct, along)), tf.sum(products, 0), tf.sum(dy, 0)];
    };
    return { value: tf.add(tf.mul(normal, gamma), beta) as tf.Tensor, gradFunc };
  });
  return compute(x, scale, offset);
}

/**
 * y = x̂·γ + β with few passes: with J of 1/width, x − mean = x·(I − J), dx = r·(dy·diag(γ)·(I − J) −
 * x̂·((dy·x̂)·diag(γ)·J)).
 */
function normalizeNarrow(x: tf.Tensor2D, scale: tf.Tensor1D, offset: tf.Tensor1D, epsilon: number): tf.Tensor {
  const width = x.shape[1];
  const compute = tf.customGrad((...given) => {
    const [rows, gamma, beta, save] = given as unknown as [
      tf.Tensor2D,
      tf.Tensor1D,
      tf.Tensor1D,
      (tensors: tf.Tensor[]) => void,
    ];
    const mean = tf.fill<tf.Rank.R2>([width, width], 1 / width);
    const centred = exactMatMul(rows, tf.sub(tf.eye(width), mean));
    const factor = tf.rsqrt(tf.add(exactMatMul(tf.square(centred), mean), epsilon));
    const normal: tf.Tensor2D = tf.mul(centred, factor);
    save([normal, factor, gamma]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [savedNormal, savedFactor, savedGamma] = saved as [tf.Tensor2D, tf.Tensor2D, tf.Tensor1D];
      const column = tf.reshape(savedGamma, [width, 1]);
      const meanOfScaled: tf.Tensor2D = tf.mul(column, tf.fill([width, width], 1 / width));
      const direct = exactMatMul(dy as tf.Tensor2D, tf.sub(tf.mul(column, tf.eye(width)), meanOfScaled) as tf.Tensor2D);
      const products: tf.Tensor2D = tf.mul(dy, savedNormal);
      const along = tf.mul(savedNormal, exactMatMul(products, meanOfScaled));
      return [tf.mul(savedFactor, tf.sub(direct, along)), columnSums(products), columnSums(dy as tf.Tensor2D)];
    };
    return { value: scaleAndShift(normal, gamma, beta), gradFunc };
  });
  return compute(x, scale, offset);
}

function scaleAndShift(x: tf.Tensor2D, scale: tf.Tensor1D, offset: tf.Tensor1D): tf.Tensor {
  if (!tf.getKernel(scaleAndShiftKernel, tf.getBackend())) return tf.add(tf.mul(x, scale), offset);
  return tf.engine().runKernel(scaleAndShiftKernel, { x, scale, offset }) as tf.Tensor;
}
