/** Random draws that depend only on the pass's key, its number of earlier draws and the shape. */
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

/** A backend's draws. Those that it does not have stay TensorFlow.js's. */
export interface Draws {
  readonly uniform?: Draw;
  readonly normal?: Draw;
  readonly kept: DrawKept;
}

/** Returns a dropout's `dropped` (see `DrawKept`) and the factor of kept elements. The rate is rounded to a multiple of 2⁻¹⁶. */
export function dropoutOf(rate: number): { readonly dropped: number; readonly factor: number } {
  const dropped = Math.min(Math.round(rate * choices), choices - 1);
  return { dropped, factor: choices / (choices - dropped) };
}

/**
 * Replaces TensorFlow.js's random operations within `withDraws`, through the package's exports.
 * @param backend name of the backend that the draws are for
 */
export function installDraws(backend: string, { uniform, normal, kept }: Draws): void {
  const exported = require("@tensorflow/tfjs-core") as {
    -readonly [Name in "dropout" | "randomUniform" | "randomNormal"]: (typeof tf)[Name];
  };
  const { dropout, randomUniform, randomNormal } = exported;
  const passOfBackend = (): Pass | undefined => (tf.getBackend() === backend ? current : undefined);
  const nextKey = (pass: Pass): tf.Tensor => {
    pass.draws += 1;
    return tf.add(pass.key, tf.tensor1d([0, pass.draws], "int32"));
  };
  exported.dropout = (x, rate, noiseShape, seed) => {
    const pass = passOfBackend();
    if (pass === undefined || rate === 0) return dropout(x, rate, noiseShape, seed);
    return tf.tidy(() => {
      const input = tf.cast(x as tf.Tensor, "float32");
      const shape = input.shape.map((size, axis) => noiseShape?.[axis] ?? size);
      const { dropped, factor } = dropoutOf(rate);
      return tf.mul(input, tf.mul(kept(shape, nextKey(pass), dropped), factor));
    });
  };
  if (uniform)
    exported.randomUniform = (shape, minimum = 0, maximum = 1, dtype = "float32", seed) => {
      const pass = passOfBackend();
      if (pass === undefined || dtype !== "float32") return randomUniform(shape, minimum, maximum, dtype, seed);
      const drawn = () => uniform(shape, nextKey(pass));
      return tf.tidy(() => tf.add(tf.mul(drawn(), maximum - minimum), minimum)) as never;
    };
  if (normal)
    exported.randomNormal = (shape, mean = 0, deviation = 1, dtype = "float32", seed) => {
      const pass = passOfBackend();
      if (pass === undefined || dtype !== "float32") return randomNormal(shape, mean, deviation, dtype, seed);
      return tf.tidy(() => tf.add(tf.mul(normal(shape, nextKey(pass)), deviation), mean)) as never;
    };
}
