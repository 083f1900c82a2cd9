/**
 * Batch normalization by fused operations, which add in sequence: `parts` successive values of a channel are normalized
 * as channels of their own, at no cost, and their statistics are combined.
 */
import * as tf from "@tensorflow/tfjs-core";
import { partsOf } from "../layers/exact";
import {
  batchNormalizationGradientKernel,
  batchNormalizationKernel,
  gradientFactors,
  normalizationGradient,
  normalizeChannels,
  scaleAndShiftKernel,
} from "../layers/normalization";
import { attributesOf, type NativeBackend, nativeBackendName } from "./operations";

type Named<T extends string> = Readonly<Record<T, tf.Tensor>>;

export function registerBatchNormalization(backend: NativeBackend): void {
  const { binding } = backend;
  const { float, flag, text } = attributesOf(binding);
  const attributes = (epsilon: number, training: boolean) => [
    float("T"),
    float("U"),
    flag("is_training", training),
    text("data_format", "NHWC"),
    { name: "epsilon", type: binding.TF_ATTR_FLOAT, value: epsilon },
  ];
  const none = () => tf.tensor1d([], "float32");
  /** Returns result, mean, variance with Bessel's correction. Without a mean and a variance it computes them. */
  const normalize = (x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, epsilon: number, known?: tf.Tensor[]) =>
    backend.executeMultipleOutputs(
      "FusedBatchNormV3",
      attributes(epsilon, known === undefined),
      [x, scale, offset, ...(known ?? [none(), none()])],
      6,
    );

  const register = (kernelName: string, compute: (inputs: Named<string>, epsilon: number) => tf.Tensor | tf.Tensor[]) =>
    tf.registerKernel({
      kernelName,
      backendName: nativeBackendName,
      kernelFunc: ({ inputs, attrs }) => {
        const epsilon = (attrs?.["epsilon"] ?? 0) as number;
        return tf.tidy(() => compute(inputs as Named<string>, epsilon));
      },
    });

  register(batchNormalizationKernel, (inputs, epsilon) => {
    const { x, scale, offset } = inputs as Named<"x" | "scale" | "offset">;
    const [count, channels] = x.shape as [number, number];
    const parts = partsOf(count);
    if (parts === undefined) return normalizeChannels(x as tf.Tensor3D, scale, offset, epsilon);
    const length = count / parts;
    const split = tf.reshape(x, [1, length, 1, parts * channels]);
    const width = parts * channels;
    const [, means, corrected] = normalize(split, tf.ones([width]), tf.zeros([width]), epsilon) as tf.Tensor[];
    const meanOfParts = tf.reshape(means as tf.Tensor, [parts, channels]);
    const mean = tf.mean(meanOfParts, 0);
    const within = tf.mean(tf.reshape(corrected as tf.Tensor, [parts, channels]), 0);
    const between = tf.mean(tf.squaredDifference(meanOfParts, mean), 0);
    const variance = tf.add(tf.mul(within, length > 1 ? (length - 1) / length : 0), between);
    const [result] = normalize(tf.reshape(x, [1, count, 1, channels]), scale, offset, epsilon, [mean, variance]);
    return [tf.reshape(result as tf.Tensor, x.shape), mean, variance];
  });

  register(batchNormalizationGradientKernel, (inputs, epsilon) => {
    const { dy, x, scale, mean, variance } = inputs as Named<"dy" | "x" | "scale" | "mean" | "variance">;
    const [count, channels] = x.shape as [number, number];
    const parts = partsOf(count);
    if (parts === undefined) {
      return normalizationGradient(dy as tf.Tensor3D, x as tf.Tensor3D, scale, mean, variance, epsilon);
    }
    const split = (tensor: tf.Tensor) => tf.reshape(tensor, [1, count / parts, 1, parts * channels]);
    const forParts = (vector: tf.Tensor) => (parts === 1 ? vector : tf.tile(vector, [parts]));
    const total = (sums: tf.Tensor | undefined) => tf.sum(tf.reshape(sums as tf.Tensor, [parts, channels]), 0);
    const [direct, ...sums] = backend.executeMultipleOutputs(
      "FusedBatchNormGradV3",
      attributes(epsilon, false), // with the given mean and variance as constants
      [split(dy), split(x), forParts(scale), forParts(mean), forParts(variance), none()],
      5,
    );
    const [dScale, dOffset] = [total(sums[0]), total(sums[1])];
    const inverse = tf.rsqrt(tf.add(variance, epsilon));
    const { ofCentred, constant } = gradientFactors({ inverse, scale, dScale, dOffset, count });
    // x − mean with a factor and a constant is a normalization; it divides by √(variance + ε).
    const factor = tf.div(ofCentred, inverse);
    const image = tf.reshape(x, [1, count, 1, channels]);
    const [through] = normalize(image, factor, constant, epsilon, [mean, variance]);
    return [tf.reshape(tf.add(split(direct as tf.Tensor), split(through as tf.Tensor)), x.shape), dScale, dOffset];
  });

  register(scaleAndShiftKernel, (inputs) => {
    const { x, scale, offset } = inputs as Named<"x" | "scale" | "offset">;
    const [rows, width] = x.shape as [number, number];
    const image = tf.reshape(x, [1, rows, 1, width]);
    const [result] = normalize(image, scale, offset, 0, [tf.zeros([width]), tf.ones([width])]);
    return tf.reshape(result as tf.Tensor, x.shape);
  });
}
