/** Operations that compute in float32 whatever a run's precision is: products that are sums or means. */
import * as tf from "@tensorflow/tfjs-core";

let depth = 0;

/** Runs operations whose recorded nodes are not rounded. */
function withoutRounding<T>(body: () => T): T {
  depth += 1;
  try {
    return body();
  } finally {
    depth -= 1;
  }
}

/** Whether `withoutRounding` runs. */
export const isExact = (): boolean => depth > 0;

export const exactMatMul = (a: tf.Tensor2D, b: tf.Tensor2D): tf.Tensor2D => withoutRounding(() => tf.matMul(a, b));

/** Largest number of values that are added in sequence. */
const maxSumRows = 512;
/** With fewer, vectors of parts would be as large as the data. */
const minSumRows = 16;

/** Returns the least number of equal parts with at most `maxSumRows` values; undefined: `count` has no such divisor. */
export function partsOf(count: number): number | undefined {
  for (let length = Math.min(maxSumRows, count); length >= Math.min(minSumRows, count); length -= 1) {
    if (count % length === 0) return count / length;
  }
  return undefined;
}

/**
 * Sums columns in levels of at most `maxSumRows` rows, each a product: rounding errors grow with the terms in sequence.
 */
export function columnSums(rows: tf.Tensor2D): tf.Tensor1D {
  const [count, width] = rows.shape;
  if (count <= maxSumRows) return tf.reshape(sumRows(rows), [width]);
  const parts = partsOf(count);
  if (parts !== undefined) {
    const sums = sumRows(tf.reshape(rows, [count / parts, parts * width]));
    return columnSums(tf.reshape(sums, [parts, width]));
  }
  const rest = count % maxSumRows;
  const [whole, last] = tf.split(rows, [count - rest, rest]) as [tf.Tensor2D, tf.Tensor2D];
  return tf.add(columnSums(whole), columnSums(last));
}

const sumRows = (rows: tf.Tensor2D): tf.Tensor2D => exactMatMul(tf.ones([1, rows.shape[0]]), rows);
