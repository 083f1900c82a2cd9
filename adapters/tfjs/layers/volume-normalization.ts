/** Batch normalization of volumes in inference, which stock TensorFlow.js does not have. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";

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
