/** Loops over rows of channels, over vectors, and over tiles of panels. Addresses and strides are in bytes. */
import type { Code } from "../../wasm/encoding";
import { advance, call, f32, f32x4, i32, ifElse, local, memory, v128, whileLoop } from "../../wasm/instructions";
import type { WasmFunction } from "../../wasm/module";
import { addTo, countDown, define, range, repeat, times } from "./define";
import { maxRows, microKernelIndex } from "./gemm-kernels";

const { get, set } = local;

/** The function `addBias(to, from, bias, rows, width, relu)`. Rows have `width` bytes; `relu` cuts off sums below 0. */
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

/** The function `copyRows(to, from, rows, width, row)`: rows of `width` bytes to rows that are `row` bytes apart. */
const copyRows = define("copyRows", ["to", "from", "rows", "width", "row"], {}, (v) => [
  countDown(v.rows, memory.copy(get(v.to), get(v.from), get(v.width)), addTo(v.to, v.row), addTo(v.from, v.width)),
]);

const fill = define("fillZero", ["at", "bytes"], {}, (v) => [memory.fill(get(v.at), i32.const(0), get(v.bytes))]);

export const rowKernels: readonly WasmFunction[] = [addBias, reluGrad, sigmoidGrad, tanhGrad, copyRows, fill];

/** The bytes of a row of the scratch tile. */
const tileRow = 32;
export const tileBytes = maxRows * tileRow;

/**
 * `sweep4(a, panels, k, b, panelB, stepB, full, tailB, tail, c, ld, add, tile)`: `panels` panels of A by `full` panels
 * of B, `panelB` bytes apart, `stepB` from k to k + 1; then `tail` columns of the packed panel `tailB` through the
 * scratch `tile`.
 */
export const sweeps: readonly WasmFunction[] = range(maxRows).map((index) => sweep(index + 1));

function sweep(rows: number): WasmFunction {
  return define(
    `sweep${rows}`,
    ["a", "panels", "k", "b", "panelB", "stepB", "full", "tailB", "tail", "c", "ld", "add", "tile"],
    { spanB: "i32", odd: "i32", at: "i32", into: "i32", left: "i32", from: "i32", row: "i32" },
    (v) => {
      const { get, set } = local;
      /** Returns the address of the last k if their number is odd, else 0. `odd` has all bits set or none. */
      const lastOdd = (end: Code, step: Code): Code => i32.and(i32.sub(end, step), get(v.odd));

      /** Multiplies the panels of A and B at `a` and `at` to the tile of C at `into`. */
      const multiplyPanel = (kind: "packed8" | "inPlace8"): Code => {
        const end = i32.add(get(v.at), get(v.spanB));
        const odd = lastOdd(end, get(v.stepB));
        const rest = [get(v.ld), get(v.add), get(v.stepB)];
        return call(microKernelIndex(rows, kind), get(v.a), get(v.at), get(v.into), end, odd, ...rest);
      };
      /** Multiplies the panel of A at `a` and the tail of B to the scratch tile. */
      const multiplyTail = (kind: "packed4" | "packed8", width: number): Code => {
        const end = i32.add(get(v.tailB), times(v.k, width));
        const odd = lastOdd(end, i32.const(width));
        const rest = [i32.const(tileRow), i32.const(0), i32.const(width)];
        return call(microKernelIndex(rows, kind), get(v.a), get(v.tailB), get(v.tile), end, odd, ...rest);
      };
      const element = f32.load(get(v.from));
      /** Moves the `tail` columns of the scratch tile to the tile of C at `into`. */
      const storeTail: Code = [
        ...set(v.row, i32.const(0)),
        ...whileLoop(
          i32.ne(get(v.row), i32.const(rows)),
          set(v.from, i32.add(get(v.tile), times(v.row, tileRow))),
          set(v.at, i32.add(get(v.into), i32.mul(get(v.row), get(v.ld)))),
          repeat(
            v.left,
            v.tail,
            ifElse(
              get(v.add),
              f32.store(get(v.at), f32.add(f32.load(get(v.at)), element)),
              f32.store(get(v.at), element),
            ),
            advance(v.at, 4),
            advance(v.from, 4),
          ),
          advance(v.row, 1),
        ),
      ];
      return [
        set(v.spanB, i32.mul(get(v.k), get(v.stepB))),
        set(v.odd, i32.sub(i32.const(0), i32.and(get(v.k), i32.const(1)))),
        countDown(
          v.panels,
          set(v.at, get(v.b)),
          set(v.into, get(v.c)),
          repeat(
            v.left,
            v.full,
            ifElse(i32.eq(get(v.stepB), i32.const(tileRow)), multiplyPanel("packed8"), multiplyPanel("inPlace8")),
            addTo(v.at, v.panelB),
            advance(v.into, 32),
          ),
          ifElse(get(v.tail), [
            ...ifElse(i32.gtU(get(v.tail), i32.const(4)), multiplyTail("packed8", 32), multiplyTail("packed4", 16)),
            ...storeTail,
          ]),
          set(v.a, i32.add(get(v.a), times(v.k, rows * 4))),
          set(v.c, i32.add(get(v.c), times(v.ld, rows))),
        ),
      ];
    },
  );
}
