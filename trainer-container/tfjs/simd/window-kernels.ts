/**
 * Depthwise gradients and max-pooling, a row of outputs and four channels at a time. Strides are in bytes, `channels`
 * too. `taps`: i32 offsets of a window's inputs.
 */
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

/** The function `maxPool(x, y, outputs, stride, channels, taps, tapsEnd)`. `stride` is the distance of windows. */
const maxPool = define(
  "maxPool",
  ["x", "y", "outputs", "stride", "channels", "taps", "tapsEnd"],
  { at: "i32", left: "i32", tap: "i32", largest: "v128" },
  (v) => [
    countDown(
      v.outputs,
      set(v.at, get(v.x)),
      set(v.left, get(v.channels)),
      whileLoop(
        get(v.left),
        set(v.largest, v128.load(get(v.at))),
        set(v.tap, i32.add(get(v.taps), i32.const(4))),
        whileLoop(
          i32.ne(get(v.tap), get(v.tapsEnd)),
          set(v.largest, f32x4.max(get(v.largest), v128.load(i32.add(get(v.at), i32.load(get(v.tap)))))),
          advance(v.tap, 4),
        ),
        v128.store(get(v.y), get(v.largest)),
        advance(v.y, 16),
        advance(v.at, 16),
        advance(v.left, -16),
      ),
      addTo(v.x, v.stride),
    ),
  ],
);

/**
 * `maxPoolGrad(x, y, dy, dx, outputs, stride, channels, taps, tapsEnd)`: to the first input that equals the output;
 * `dx` begins as zeros.
 */
const maxPoolGrad = define(
  "maxPoolGrad",
  ["x", "y", "dy", "dx", "outputs", "stride", "channels", "taps", "tapsEnd"],
  { at: "i32", left: "i32", tap: "i32", into: "i32", largest: "v128", gradient: "v128", open: "v128", here: "v128" },
  (v) => [
    countDown(
      v.outputs,
      set(v.at, i32.const(0)),
      whileLoop(
        i32.ne(get(v.at), get(v.channels)),
        set(v.largest, v128.load(get(v.y))),
        set(v.gradient, v128.load(get(v.dy))),
        set(v.open, v128.constI32([-1, -1, -1, -1])),
        set(v.tap, get(v.taps)),
        whileLoop(
          i32.ne(get(v.tap), get(v.tapsEnd)),
          set(v.left, i32.add(get(v.at), i32.load(get(v.tap)))),
          set(v.into, i32.add(get(v.dx), get(v.left))),
          set(v.here, v128.and(get(v.open), f32x4.eq(get(v.largest), v128.load(i32.add(get(v.x), get(v.left)))))),
          v128.store(get(v.into), f32x4.add(v128.load(get(v.into)), v128.and(get(v.here), get(v.gradient)))),
          set(v.open, v128.andNot(get(v.open), get(v.here))),
          advance(v.tap, 4),
        ),
        advance(v.y, 16),
        advance(v.dy, 16),
        advance(v.at, 16),
      ),
      addTo(v.x, v.stride),
      addTo(v.dx, v.stride),
    ),
  ],
);

export const poolKernels: readonly WasmFunction[] = [maxPool, maxPoolGrad];
