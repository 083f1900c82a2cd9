/** Replaces the computation of TensorFlow.js's layer normalization over the last axis (Ba et al., 2016), forward and backward. */
import * as tf from "@tensorflow/tfjs-core";
import { layers } from "@tensorflow/tfjs-layers";
import { columnSums } from "./column-sums";
import { exactMatMul } from "./exact";

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
      const [scale, offset] = [this.gamma?.read() ?? tf.ones([width]), this.beta?.read() ?? tf.zeros([width])];
      const normalize = width <= productWidth ? normalizeNarrow : normalizeWide;
      return tf.reshape(normalize(rows, scale as tf.Tensor1D, offset as tf.Tensor1D, this.epsilon), x.shape);
    });
  };
}

/**
 * Computes y = x̂ · γ + β with x̂ = (x − mean) · r and r = 1 / √(variance + ε), of each row. The gradient by x is
 * r · (dy · γ − mean(dy · γ) − x̂ · mean(dy · x̂ · γ)). These means are products with the vector γ / width.
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
 * Computes y = x̂ · γ + β with few passes over memory. All that is linear in a row is one product: with the matrix J of
 * 1/width, x − mean is x·(I − J), and the gradient by x is r · (dy·diag(γ)·(I − J) − x̂ · ((dy · x̂)·diag(γ)·J)).
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
