/** Replaces the training computation of TensorFlow.js's batch normalization. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import {
  batchNormalizationGradientKernel,
  batchNormalizationKernel,
  normalizationGradient,
  normalizeChannels,
} from "./channel-normalization";

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
