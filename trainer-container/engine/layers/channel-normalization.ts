/**
 * Normalizes the channels of a training batch, x `[outer, channels, inner]`, with the sums of many values in float32.
 *
 * TensorFlow's operations add each channel in sequence: the rounding error of a mean grows with the number of values M, to
 * 1e-5 at 10⁵ of them. Here sums have two levels, and the error grows with about √M. An error in a mean shifts whole
 * channels, so many values change their sign in a following ReLU.
 */
import * as tf from "@tensorflow/tfjs-core";
import { columnSums } from "./column-sums";
import { exactMatMul } from "./exact";

/**
 * A backend may have the functions of this file as kernels, for `inner` = 1. Inputs: `x`, `scale` and `offset` `[channels]`;
 * attribute `epsilon`. Outputs: those of `normalizeChannels`.
 */
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

/**
 * Returns the gradients by x, scale and offset. With r = 1 / √(variance + ε) and x̂ = (x − mean) · r they are
 * scale · r · (dy − Σdy / M − x̂ · Σ(dy · x̂) / M), Σ(dy · x̂) and Σdy.
 */
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
