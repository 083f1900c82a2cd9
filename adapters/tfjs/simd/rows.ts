/** Loops over rows of channels, four at a time, and over whole vectors. Addresses and strides are in bytes. */
import type { Code } from "../../wasm/encoding";
import { advance, f32, f32x4, i32, ifElse, local, memory, v128, whileLoop } from "../../wasm/instructions";
import type { WasmFunction } from "../../wasm/module";
import { addTo, countDown, define } from "./define";

const { get, set } = local;

/**
 * The function `addBias(to, from, bias, rows, width, relu)`. It adds the bias to each row of `width` bytes. With
 * `relu`, negative sums become 0.
 */
const addBias = define(
  "addBias",
  ["to", "from", "bias", "rows", "width", "relu"],
  { at: "i32", vectors: "i32", end: "i32", four: "v128", zeros: "v128", one: "f32", zero: "f32" },
  (v) => [
    set(v.end, i32.add(get(v.bias), get(v.width))),
    set(v.vectors, i32.sub(get(v.end), i32.and(get(v.width), i32.const(15)))),
    countDown(
      v.rows,
      set(v.at, get(v.bias)),
      whileLoop(
        i32.ne(get(v.at), get(v.vectors)),
        set(v.four, f32x4.add(v128.load(get(v.from)), v128.load(get(v.at)))),
        ifElse(get(v.relu), set(v.four, f32x4.max(get(v.four), get(v.zeros)))),
        v128.store(get(v.to), get(v.four)),
        advance(v.to, 16),
        advance(v.from, 16),
        advance(v.at, 16),
      ),
      whileLoop(
        i32.ne(get(v.at), get(v.end)),
        set(v.one, f32.add(f32.load(get(v.from)), f32.load(get(v.at)))),
        ifElse(get(v.relu), set(v.one, f32.max(get(v.one), get(v.zero)))),
        f32.store(get(v.to), get(v.one)),
        advance(v.to, 4),
        advance(v.from, 4),
        advance(v.at, 4),
      ),
    ),
  ],
);

/** The function `reluGrad(to, dy, x, vectors)`: dy where x > 0, and dy × 0 elsewhere. If x is NaN, the result is dy. */
const reluGrad = define("reluGrad", ["to", "dy", "x", "vectors"], { zero: "v128", one: "v128" }, (v) => [
  set(v.one, f32x4.splat(f32.const(1))),
  countDown(
    v.vectors,
    v128.store(
      get(v.to),
      f32x4.mul(v128.load(get(v.dy)), v128.andNot(get(v.one), f32x4.le(v128.load(get(v.x)), get(v.zero)))),
    ),
    advance(v.to, 16),
    advance(v.dy, 16),
    advance(v.x, 16),
  ),
]);

/** Defines `name(to, dy, y, vectors)`, which multiplies dy by the activation's derivative, a function of its output y. */
const fromOutput = (name: string, derivative: (y: Code, one: Code) => Code): WasmFunction =>
  define(name, ["to", "dy", "y", "vectors"], { one: "v128", value: "v128" }, (v) => [
    set(v.one, f32x4.splat(f32.const(1))),
    countDown(
      v.vectors,
      set(v.value, v128.load(get(v.y))),
      v128.store(get(v.to), f32x4.mul(v128.load(get(v.dy)), derivative(get(v.value), get(v.one)))),
      advance(v.to, 16),
      advance(v.dy, 16),
      advance(v.y, 16),
    ),
  ]);

const sigmoidGrad = fromOutput("sigmoidGrad", (y, one) => f32x4.mul(y, f32x4.sub(one, y)));
const tanhGrad = fromOutput("tanhGrad", (y, one) => f32x4.sub(one, f32x4.mul(y, y)));

/**
 * The function `copyRows(to, from, rows, width, row)`. It copies contiguous rows of `width` bytes to rows that are
 * `row` bytes apart.
 */
const copyRows = define("copyRows", ["to", "from", "rows", "width", "row"], {}, (v) => [
  countDown(v.rows, memory.copy(get(v.to), get(v.from), get(v.width)), addTo(v.to, v.row), addTo(v.from, v.width)),
]);

const fill = define("fillZero", ["at", "bytes"], {}, (v) => [memory.fill(get(v.at), i32.const(0), get(v.bytes))]);

export const rowKernels: readonly WasmFunction[] = [addBias, reluGrad, sigmoidGrad, tanhGrad, copyRows, fill];
