/** The loops around the micro-kernels, over all tiles of some panels of A with some panels of B. */
import type { Code } from "../../wasm/encoding";
import { advance, call, f32, i32, ifElse, local, whileLoop } from "../../wasm/instructions";
import type { WasmFunction } from "../../wasm/module";
import { addTo, countDown, define, range, repeat, times } from "./define";
import { maxRows, microKernelIndex } from "./micro-kernel";

/** The bytes of a row of the scratch tile. */
const tileRow = 32;
export const tileBytes = maxRows * tileRow;

/**
 * The functions `sweep4(a, panels, k, b, panelB, stepB, full, tailB, tail, c, ld, add, tile)`. They multiply `panels`
 * panels of A, `k` deep and packed contiguously, by `full` panels of B of eight columns (`panelB` bytes apart, `stepB`
 * from k to k + 1). If `tail` columns are left, they multiply the packed panel `tailB`, four columns wide for up to 4
 * and eight otherwise, through the scratch `tile`.
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
