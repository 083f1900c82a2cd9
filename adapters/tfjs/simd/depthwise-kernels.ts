/** Rows of a depthwise convolution's gradients, four channels at a time. Addresses, strides and `channels` are in bytes. */
import { advance, f32x4, i32, local, v128, whileLoop } from "../../wasm/instructions";
import type { WasmFunction } from "../../wasm/module";
import { addTo, countDown, define } from "./define";

const { get, set } = local;

/** The function `sumProducts(sums, x, dy, pixels, xStep, channels)`: sums of x · dy over the pixels, by channel. */
const sumProducts = define(
  "sumProducts",
  ["sums", "x", "dy", "pixels", "xStep", "channels"],
  { at: "i32", xAt: "i32", dyAt: "i32", left: "i32", zeros: "v128", sum: "v128" },
  (v) => [
    whileLoop(
      i32.ne(get(v.at), get(v.channels)),
      set(v.xAt, i32.add(get(v.x), get(v.at))),
      set(v.dyAt, i32.add(get(v.dy), get(v.at))),
      set(v.left, get(v.pixels)),
      set(v.sum, get(v.zeros)),
      countDown(
        v.left,
        set(v.sum, f32x4.add(get(v.sum), f32x4.mul(v128.load(get(v.xAt)), v128.load(get(v.dyAt))))),
        addTo(v.xAt, v.xStep),
        addTo(v.dyAt, v.channels),
      ),
      v128.store(i32.add(get(v.sums), get(v.at)), get(v.sum)),
      advance(v.at, 16),
    ),
  ],
);

/** The function `addProducts(dx, dy, tap, pixels, xStep, channels)`. It adds dy · tap to each pixel of dx. */
const addProducts = define(
  "addProducts",
  ["dx", "dy", "tap", "pixels", "xStep", "channels"],
  { at: "i32", into: "i32" },
  (v) => [
    countDown(
      v.pixels,
      set(v.at, i32.const(0)),
      whileLoop(
        i32.ne(get(v.at), get(v.channels)),
        set(v.into, i32.add(get(v.dx), get(v.at))),
        v128.store(
          get(v.into),
          f32x4.add(v128.load(get(v.into)), f32x4.mul(v128.load(get(v.dy)), v128.load(i32.add(get(v.tap), get(v.at))))),
        ),
        advance(v.dy, 16),
        advance(v.at, 16),
      ),
      addTo(v.dx, v.xStep),
    ),
  ],
);

export const depthwiseKernels: readonly WasmFunction[] = [sumProducts, addProducts];
