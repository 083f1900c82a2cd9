import * as tf from "@tensorflow/tfjs-core";
import { initializers } from "@tensorflow/tfjs-layers";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { installOrthogonal } from "../../../trainer-container/engine/orthogonal";

/** Computes as TensorFlow.js does: Q of a QR decomposition, with the signs of R's diagonal. */
function stock([rows = 0, columns = 0]: readonly number[], gain: number, seed: number): tf.Tensor {
  const random = tf.randomNormal([Math.max(rows, columns), Math.min(rows, columns)], 0, 1, "float32", seed);
  const [q, r] = tf.linalg.qr(random as tf.Tensor2D);
  const signs = tf.sign(tf.sum(tf.mul(r, tf.eye(r.shape[0] as number)), 0));
  const signed = tf.mul(q, signs);
  return tf.mul(rows < columns ? tf.transpose(signed) : signed, gain);
}

it.each([[[4, 4]], [[3, 8]], [[8, 3]]])("the orthogonal initializer gives the stock values for %j", async (shape) => {
  await createEngine({ preferred: "auto", threads: 1 });
  installOrthogonal();
  const initializer = initializers.orthogonal({ gain: 1.5, seed: 7 } as never);
  const difference = tf.max(tf.abs(tf.sub(initializer.apply(shape, "float32"), stock(shape, 1.5, 7))));
  expect(difference.dataSync()[0]).toBeLessThan(1e-5);
  const [rows = 0, columns = 0] = shape;
  const images = initializer.apply([1, rows, columns], "float32"); // other ranks are flattened
  expect(Array.from(images.dataSync())).toEqual(Array.from(initializer.apply(shape, "float32").dataSync()));
});
