import * as tf from "@tensorflow/tfjs-core";

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
 * Returns each column's sum, in two levels. The rounding error of a sum grows with the number of terms in sequence. Each level
 * is a product, which adds in blocks.
 */
export function columnSums(rows: tf.Tensor2D): tf.Tensor1D {
  const [count, width] = rows.shape;
  const parts = partsOf(count) ?? 1;
  const sums = sumRows(tf.reshape(rows, [count / parts, parts * width]));
  return tf.reshape(parts === 1 ? sums : sumRows(tf.reshape(sums, [parts, width])), [width]);
}

const sumRows = (rows: tf.Tensor2D): tf.Tensor2D => tf.matMul(tf.ones([1, rows.shape[0]]), rows);
