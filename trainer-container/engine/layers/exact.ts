/** Operations that compute in float32 whatever a run's precision is: products that are sums or means. */
import * as tf from "@tensorflow/tfjs-core";

let depth = 0;

/** Runs operations whose recorded nodes are not rounded. */
export function withoutRounding<T>(body: () => T): T {
  depth += 1;
  try {
    return body();
  } finally {
    depth -= 1;
  }
}

/** Whether `withoutRounding` runs. */
export const isExact = (): boolean => depth > 0;

/** Multiplies matrices in float32. */
export const exactMatMul = (a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor2D => withoutRounding(() => tf.matMul(a, b));
