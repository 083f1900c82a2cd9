/** Replaces the computation of TensorFlow.js's layer normalization over the last axis (Ba et al., 2016), forward and backward. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";

interface LayerNormalizationLayer {
  readonly axis: number | readonly number[];
  readonly epsilon: number;
  readonly gamma?: { read(): tf.Tensor } | null;
  readonly beta?: { read(): tf.Tensor } | null;
  call(inputs: tf.Tensor | tf.Tensor[], options: unknown): tf.Tensor;
}

/**
 * Up to this width, means are products with a matrix of 1/width: they come out repeated over the row. A mean of few elements
 * that is subtracted from its row runs in short loops, several times slower than memory allows.
 */
const productWidth = 64;

let installed = false;

/** Installs the computation for this process. It also trains layers without `scale` or `center`. */
export function installLayerNormalization(): void {
  if (installed) return;
  installed = true;
  const prototype = Object.getPrototypeOf(layers.layerNormalization()) as LayerNormalizationLayer;
  const { call } = prototype;
  prototype.call = function (this: LayerNormalizationLayer, inputs, options) {
    const x = (Array.isArray(inputs) ? inputs[0] : inputs) as tf.Tensor;
    const axes = typeof this.axis === "number" ? [this.axis] : this.axis;
    if (axes.length !== 1 || (axes[0] !== -1 && axes[0] !== x.rank - 1)) return call.call(this, inputs, options);
    const width = x.shape[x.rank - 1] as number;
    return tf.tidy(() => {
      const rows = tf.reshape(x, [-1, width]) as tf.Tensor2D;
      const normal = normalize(rows, this.epsilon);
      const scaled = this.gamma ? tf.mul(normal, this.gamma.read()) : normal;
      return tf.reshape(this.beta ? tf.add(scaled, this.beta.read()) : scaled, x.shape);
    });
  };
}

/**
 * Returns x̂ = (x − mean) · r with r = 1 / √(variance + ε), of each row. The gradient by x is
 * r · (dx̂ − mean(dx̂) − x̂ · mean(dx̂ · x̂)).
 */
function normalize(x: tf.Tensor2D, epsilon: number): tf.Tensor {
  const meanOf = rowMean(x.shape[1]);
  const compute = tf.customGrad((...given) => {
    const [rows, save] = given as unknown as [tf.Tensor2D, (tensors: tf.Tensor[]) => void];
    const centred: tf.Tensor2D = tf.sub(rows, meanOf(rows));
    const scale = tf.rsqrt(tf.add(meanOf(tf.square(centred)), epsilon));
    const value = tf.mul(centred, scale);
    save([value, scale]);
    const gradFunc = (dy: tf.Tensor, saved: tf.Tensor[]): tf.Tensor[] => {
      const [normal, factor] = saved as [tf.Tensor2D, tf.Tensor2D];
      const along: tf.Tensor2D = tf.mul(normal, meanOf(tf.mul(dy, normal)));
      return [tf.mul(factor, tf.sub(tf.sub(dy, meanOf(dy as tf.Tensor2D)), along))];
    };
    return { value, gradFunc };
  });
  return compute(x);
}

/** Returns a function that computes the mean of each row, `[rows, width]` or `[rows, 1]`. */
function rowMean(width: number): (x: tf.Tensor2D) => tf.Tensor2D {
  if (width > productWidth) return (x) => tf.mean(x, 1, true);
  return (x) => tf.matMul(x, tf.fill([width, width], 1 / width));
}
