/** Replaces the training computation of TensorFlow.js's batch normalization. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";

/**
 * A backend may normalize a batch over all axes but the last as one kernel. Inputs: `x` `[rows, height, width, channels]`,
 * `scale` and `offset` `[channels]`; attribute `epsilon`. Outputs: the result, the mean, the variance with Bessel's
 * correction, and three tensors for the gradient.
 */
export const batchNormalizationKernel = "BatchNormalization";
/** Its gradient. Inputs: `dy`, `x`, `scale`, and the three tensors as `kept0` to `kept2`. Outputs: by `x`, `scale`, `offset`. */
export const batchNormalizationGradientKernel = "BatchNormalizationGradient";

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

let installed = false;

/** Installs the computation for this process. It also trains layers without `scale` or `center`, on which the stock one fails. */
export function installBatchNormalization(): void {
  if (installed) return;
  installed = true;
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

function normalize({ axis, epsilon, gamma, beta }: BatchNormalizationLayer, x: tf.Tensor): Normalized {
  const channelAxis = axis >= 0 ? axis : axis + x.rank;
  const channels = x.shape[channelAxis] as number;
  const [scale, offset] = [gamma?.read() ?? tf.ones([channels]), beta?.read() ?? tf.zeros([channels])];
  const isLast = channelAxis === x.rank - 1;
  if (isLast && tf.getKernel(batchNormalizationKernel, tf.getBackend())) return fused(x, scale, offset, epsilon);
  const others = x.shape.map((_, each) => each).filter((each) => each !== channelAxis);
  const { mean, variance } = tf.moments(x, others);
  const along = (values: tf.Tensor): tf.Tensor =>
    isLast
      ? values
      : tf.reshape(
          values,
          x.shape.map((size, each) => (each === channelAxis ? size : 1)),
        );
  const result = tf.batchNorm(
    x,
    along(mean) as never,
    along(variance) as never,
    along(offset) as never,
    along(scale) as never,
    epsilon,
  );
  return { result, mean, variance };
}

function fused(x: tf.Tensor, scale: tf.Tensor, offset: tf.Tensor, epsilon: number): Normalized {
  const channels = x.shape[x.rank - 1] as number;
  const values = tf.util.sizeFromShape(x.shape) / channels;
  const images = x.rank === 4 ? x : tf.reshape(x, [values, 1, 1, channels]);
  const statistics: tf.Tensor[] = [];
  const compute = tf.customGrad((...given) => {
    const [image, factor, addend, save] = given as unknown as [
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
      (tensors: tf.Tensor[]) => void,
    ];
    const named = { x: image, scale: factor, offset: addend };
    const [value, mean, variance, ...kept] = tf
      .engine()
      .runKernel(batchNormalizationKernel, named, { epsilon }) as tf.Tensor[];
    statistics.push(...[mean, variance].map((each) => tf.keep(each as tf.Tensor)));
    save([image, factor, ...kept]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [savedX, savedScale, kept0, kept1, kept2] = saved as [
        tf.Tensor,
        tf.Tensor,
        tf.Tensor,
        tf.Tensor,
        tf.Tensor,
      ];
      const all = { dy, x: savedX, scale: savedScale, kept0, kept1, kept2 };
      return tf.engine().runKernel(batchNormalizationGradientKernel, all, { epsilon }) as tf.Tensor[];
    };
    return { value: value as tf.Tensor, gradFunc };
  });
  const result = tf.reshape(compute(images, scale, offset), x.shape);
  const [mean, corrected] = statistics as [tf.Tensor, tf.Tensor];
  const variance = tf.mul(corrected, values > 1 ? (values - 1) / values : 1);
  const own = tf.clone(mean);
  for (const each of statistics) each.dispose();
  return { result, mean: own, variance };
}
