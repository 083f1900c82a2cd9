/**
 * The innermost loops of the matrix product: a tile of C, `rows` × (4 or 8) columns, kept in registers while k runs.
 *
 * `a` is a packed panel, `rows` floats for each k; `b` has the tile's columns side by side, `step` bytes from k to k + 1. Every element
 * of C is Σ a·b in the order of k from 0, multiplication and addition rounded apart: the same bits in a tile of any size.
 */
import type { Code } from "../../../core/wasm/encoding";
import { advance, f32x4, i32, ifElse, local, v128, whileLoop } from "../../../core/wasm/instructions";
import type { ValueType, WasmFunction } from "../../../core/wasm/module";
import { addTo, define, range } from "./define";

/**
 * Most rows of a tile. 5 × 8 takes 14 vector registers (ten sums, two of b, one of a, one product); of x64's sixteen V8 gives out
 * fifteen, and six rows spill.
 */
export const maxRows = 5;

/** Columns of a tile, by vectors of four. */
const widths = [1, 2] as const;

/** The functions' numbers, which come first in the module. */
export function microKernelIndex(rows: number, vectors: 1 | 2): number {
  return (rows - 1) * widths.length + vectors - 1;
}

/**
 * `micro5x8(a, b, c, end, step, ld, add)`: the tile at `c`, rows `ld` bytes apart, becomes (`add`: grows by) the product; `end` is b's
 * address past the last k.
 */
export const microKernels: readonly WasmFunction[] = range(maxRows).flatMap((index) =>
  widths.map((vectors) => microKernel(index + 1, vectors)),
);

function microKernel(rows: number, vectors: number): WasmFunction {
  const vectorLocals: Record<string, ValueType> = Object.fromEntries(
    range(rows * vectors + vectors + 1).map((index) => [`v${index}`, "v128"]),
  );
  const params = ["a", "b", "c", "end", "step", "ld", "add"] as const;
  return define(`micro${rows}x${vectors * 4}`, params, vectorLocals, (v) => {
    const sum = (row: number, vector: number): number => params.length + row * vectors + vector;
    const ofB = (vector: number): number => params.length + rows * vectors + vector;
    const ofA = ofB(vectors);
    const accumulate = (row: number): Code[] => [
      local.set(ofA, v128.load32Splat(local.get(v["a"]!), row * 4)),
      ...range(vectors).map((vector) => {
        const product = f32x4.mul(local.get(ofA), local.get(ofB(vector)));
        return local.set(sum(row, vector), f32x4.add(local.get(sum(row, vector)), product));
      }),
    ];
    const store = (value: (row: number, vector: number) => Code): Code =>
      range(rows).flatMap((row) => [
        ...range(vectors).flatMap((vector) => v128.store(local.get(v["c"]!), value(row, vector), vector * 16)),
        ...(row < rows - 1 ? addTo(v["c"]!, v["ld"]!) : []),
      ]);
    return [
      whileLoop(
        i32.ne(local.get(v["b"]!), local.get(v["end"]!)),
        ...range(vectors).map((vector) => local.set(ofB(vector), v128.load(local.get(v["b"]!), vector * 16))),
        ...range(rows).flatMap(accumulate),
        advance(v["a"]!, rows * 4),
        addTo(v["b"]!, v["step"]!),
      ),
      ifElse(
        local.get(v["add"]!),
        store((row, vector) => f32x4.add(v128.load(local.get(v["c"]!), vector * 16), local.get(sum(row, vector)))),
        store((row, vector) => local.get(sum(row, vector))),
      ),
    ];
  });
}
