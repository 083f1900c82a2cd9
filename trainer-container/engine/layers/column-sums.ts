import * as tf from "@tensorflow/tfjs-core";
import { exactMatMul } from "./exact";

/** Returns each column's sum. Products add in blocks, on every backend; a sum's rounding error grows with all of its terms. */
export function columnSums(rows: tf.Tensor2D): tf.Tensor1D {
  const [count, width] = rows.shape;
  return tf.reshape(exactMatMul(tf.ones<tf.Rank.R2>([1, count]), rows), [width]);
}
