/**
 * Random draws of a pass, as operations of the backend: they depend only on the pass's key, its number of earlier draws and
 * the shape. So a graph that was recorded once draws other numbers in each call, and equal ones on every worker.
 */
import { createHash } from "node:crypto";
import * as tf from "@tensorflow/tfjs-core";

interface Pass {
  readonly key: tf.Tensor;
  draws: number;
}

let current: Pass | undefined;

/** Returns a pass's key, int32 `[2]`: the first 8 bytes of the text's SHA-256. */
export function drawKey(text: string): Int32Array {
  const digest = createHash("sha256").update(text).digest();
  return Int32Array.of(digest.readInt32LE(0), digest.readInt32LE(4));
}

/** Runs `body`, which must be synchronous, with draws that `key` (int32 `[2]`) determines. */
export function withDraws<T>(key: tf.Tensor, body: () => T): T {
  const outer = current;
  current = { key, draws: 0 };
  try {
    return body();
  } finally {
    current = outer;
  }
}

/** Draws `[...shape]` numbers from a key, int32 `[2]`. */
export type Draw = (shape: readonly number[], key: tf.Tensor) => tf.Tensor;

/** Number of different values that decide on an element of a dropout. */
const choices = 2 ** 16;

/** Returns a float32 tensor of `[...shape]` elements: 0 with the probability `dropped` / 65,536, otherwise 1. */
export type DrawKept = (shape: readonly number[], key: tf.Tensor, dropped: number) => tf.Tensor;

/**
 * Replaces TensorFlow.js's random operations, which draw in JavaScript, within `withDraws`. Layers and user code call them
 * through the package's exports, so those are replaced.
 *
 * @param uniform draws from [0, 1)
 * @param normal draws from the standard normal distribution
 * @param kept draws which elements a dropout keeps. Its rate is rounded to a multiple of 2⁻¹⁶.
 */
export function installDraws(uniform: Draw, normal: Draw, kept: DrawKept): void {
  const exported = require("@tensorflow/tfjs-core") as {
    -readonly [Name in "dropout" | "randomUniform" | "randomNormal"]: (typeof tf)[Name];
  };
  const { dropout, randomUniform, randomNormal } = exported;
  const nextKey = (pass: Pass): tf.Tensor => {
    pass.draws += 1;
    return tf.add(pass.key, tf.tensor1d([0, pass.draws], "int32"));
  };
  const draw = (distribution: Draw, shape: readonly number[], pass: Pass): tf.Tensor =>
    distribution(shape, nextKey(pass));
  exported.dropout = (x, rate, noiseShape, seed) => {
    const pass = current;
    if (pass === undefined || rate === 0) return dropout(x, rate, noiseShape, seed);
    return tf.tidy(() => {
      const input = tf.cast(x as tf.Tensor, "float32");
      const shape = input.shape.map((size, axis) => noiseShape?.[axis] ?? size);
      const dropped = Math.min(Math.round(rate * choices), choices - 1);
      const mask = kept(shape, nextKey(pass), dropped);
      return tf.mul(input, tf.mul(mask, choices / (choices - dropped)));
    });
  };
  exported.randomUniform = (shape, minimum = 0, maximum = 1, dtype = "float32", seed) => {
    const pass = current;
    if (pass === undefined || dtype !== "float32") return randomUniform(shape, minimum, maximum, dtype, seed);
    return tf.tidy(() => tf.add(tf.mul(draw(uniform, shape, pass), maximum - minimum), minimum)) as never;
  };
  exported.randomNormal = (shape, mean = 0, deviation = 1, dtype = "float32", seed) => {
    const pass = current;
    if (pass === undefined || dtype !== "float32") return randomNormal(shape, mean, deviation, dtype, seed);
    return tf.tidy(() => tf.add(tf.mul(draw(normal, shape, pass), deviation), mean)) as never;
  };
}
