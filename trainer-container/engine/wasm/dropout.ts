/** Dropout of the WebAssembly engine. The tape and programs draw the same masks, faster than TensorFlow.js. */
import * as tf from "@tensorflow/tfjs-core";
import type { Buffers, Simd } from "../../tfjs/simd/simd";
import { dropoutOf, installDraws } from "../draws";
import { seededIntegers } from "../seeded-random";

/** Writes 0 with the probability `dropped` / 65,536, otherwise `kept`. @param key two integers, see `withDraws` */
function drawMask(into: Float32Array, [first, second]: Int32Array, dropped: number, kept: number): void {
  const next = seededIntegers(`${first} ${second}`);
  const pairs = into.length & ~1;
  for (let i = 0; i < pairs; i += 2) {
    const bits = next();
    into[i] = (bits & 0xffff) < dropped ? 0 : kept;
    into[i + 1] = bits >>> 16 < dropped ? 0 : kept;
  }
  if (pairs < into.length) into[pairs] = (next() & 0xffff) < dropped ? 0 : kept;
}

let installed = false;

/** Lets dropouts on the tape draw by `drawMask`. */
export function installDropout(): void {
  if (installed) return;
  installed = true;
  installDraws("wasm", {
    kept: (shape, key, dropped) => {
      const mask = new Float32Array(tf.util.sizeFromShape([...shape]));
      drawMask(mask, key.dataSync() as Int32Array, dropped, 1);
      return tf.tensor(mask, [...shape]);
    },
  });
}

export interface Dropout {
  /** Multiplies the output by a mask. @param key of the draw */
  forward(y: number, rows: number, key: Int32Array): void;
  /** Multiplies the gradient by the output by the same mask. */
  backward(dy: number, rows: number): void;
}

/** Creates the dropout of stage `index`, whose rows have `width` elements. */
export function dropoutAfter(
  index: number,
  simd: Simd,
  buffers: Buffers<string>,
  width: number,
  rate: number,
): Dropout {
  const { dropped, factor } = dropoutOf(rate);
  const maskOf = (rows: number) =>
    simd.floats(buffers.at(`mask ${index}`, rows * width * Float32Array.BYTES_PER_ELEMENT), rows * width);
  const multiply = (at: number, rows: number): void => {
    const mask = maskOf(rows);
    const values = simd.floats(at, mask.length);
    for (let i = 0; i < values.length; i += 1) values[i] = (values[i] as number) * (mask[i] as number);
  };
  return {
    forward(y, rows, key) {
      drawMask(maskOf(rows), key, dropped, factor);
      multiply(y, rows);
    },
    backward: multiply,
  };
}
