/**
 * The innermost loops of the matrix product. A tile of C, `rows` × (4 or 8) columns, stays in registers while k runs.
 *
 * `a` is a packed panel with `rows` floats for each k. `b` has the tile's columns contiguously. Every element of C is Σ
 * a·b in the order of k from 0. Multiplication and addition are rounded together if this process can (`multiplyAdd`),
 * and separately otherwise. The bits do not depend on the size of the tile.
 *
 * V8 compiles these shapes to the fastest code, by measurement (GFLOP/s on a 3.65 GHz Zen 4, with a peak of 58 in both
 * modes). Separate: 4 × 8 with two k per step 47; 5 × 8 with one k 44, with two 36 (spills); 6 × 8 29 (spills); 3 × 12
 * 42. Four k per step spill in every shape. Fused: 6 × 8 with one k 52, with two 36 (spills); 4 × 8 48 with either. A
 * loop with its test at the end and a guard before it lets V8 hoist address arithmetic. The branch between the two k
 * prevents V8 from moving both loads to the front.
 */
import type { Code } from "../../wasm/encoding";
import { advance, block, branchIf, f32x4, i32, ifElse, local, loop, v128 } from "../../wasm/instructions";
import type { ValueType, WasmFunction } from "../../wasm/module";
import { multiplyAdd } from "../../wasm/multiply-add";
import { addTo, define, range } from "./define";

const fused = multiplyAdd() === "fused";
/** The maximum number of rows of a tile. */
export const maxRows = fused ? 6 : 4;

/**
 * The kinds of B: a packed panel of eight or of four columns, or eight columns in place, `step` bytes from k to k + 1.
 */
const kinds = ["packed8", "packed4", "inPlace8"] as const;
type Kind = (typeof kinds)[number];

/** Returns the index of a micro-kernel. They are the first functions of the module. */
export function microKernelIndex(rows: number, kind: Kind): number {
  return (rows - 1) * kinds.length + kinds.indexOf(kind);
}

/**
 * The functions `packed8x4(a, b, c, end, odd, ld, add, step)`. The tile at `c`, with rows `ld` bytes apart, becomes the
 * product, or grows by it if `add` is set. `end` is b's address after the last k. `odd` is the address of the last k if
 * their number is odd, else 0.
 */
export const microKernels: readonly WasmFunction[] = range(maxRows).flatMap((index) =>
  kinds.map((kind) => microKernel(index + 1, kind)),
);

function microKernel(rows: number, kind: Kind): WasmFunction {
  const vectors = kind === "packed4" ? 1 : 2;
  const params = ["a", "b", "c", "end", "odd", "ld", "add", "step"] as const;
  const vectorLocals: Record<string, ValueType> = Object.fromEntries(
    range(rows * vectors + vectors + 1).map((index) => [`v${index}`, "v128"]),
  );
  return define(`${kind}x${rows}`, params, { next: "i32", ...vectorLocals }, (v) => {
    const get = (name: keyof typeof v): Code => local.get(v[name]);
    const first = params.length + 1;
    const sum = (row: number, vector: number): number => first + row * vectors + vector;
    const ofB = (vector: number): number => first + rows * vectors + vector;
    const ofA = ofB(vectors);
    const accumulate = (row: number, offset: number): Code[] => [
      local.set(ofA, v128.load32Splat(get("a"), offset + row * 4)),
      ...range(vectors).map((vector) => {
        const [a, b, c] = [ofA, ofB(vector), sum(row, vector)].map(local.get) as [Code, Code, Code];
        return local.set(sum(row, vector), fused ? f32x4.relaxedMultiplyAdd(a, b, c) : f32x4.add(c, f32x4.mul(a, b)));
      }),
    ];
    const one = (b: Code, offsetB: number, offsetA: number): Code => [
      ...range(vectors).flatMap((vector) => local.set(ofB(vector), v128.load(b, offsetB + vector * 16))),
      ...range(rows).flatMap((row) => accumulate(row, offsetA).flat()),
    ];
    const width = vectors * 16;
    const step: Code = kind === "inPlace8" ? addTo(v["b"], v["step"]) : advance(v["b"], width);
    const second = kind === "inPlace8" ? one(get("next"), 0, rows * 4) : one(get("b"), width, rows * 4);
    const secondOfTwo = [
      branchIf(i32.eq(get("b"), get("odd")), 1),
      kind === "inPlace8" ? local.set(v["next"], i32.add(get("b"), get("step"))) : [],
      second,
      advance(v["a"], rows * 8),
      kind === "inPlace8" ? local.set(v["b"], i32.add(get("next"), get("step"))) : advance(v["b"], width * 2),
    ];
    const store = (value: (row: number, vector: number) => Code): Code =>
      range(rows).flatMap((row) => [
        ...range(vectors).flatMap((vector) => v128.store(get("c"), value(row, vector), vector * 16)),
        ...(row < rows - 1 ? addTo(v["c"], v["ld"]) : []),
      ]);
    // Addresses are multiples of 4. If V8 knows that they are results of an operation, it does not clear their upper
    // halves at every k.
    const clear = (pointer: "a" | "b"): Code => local.set(v[pointer], i32.and(get(pointer), i32.const(-4)));
    return [
      clear("a"),
      clear("b"),
      block(
        branchIf(i32.eq(get("b"), get("end")), 0),
        loop(
          one(get("b"), 0, 0),
          ...(fused ? [advance(v["a"], rows * 4), step] : secondOfTwo),
          branchIf(i32.ne(get("b"), get("end")), 0),
        ),
      ),
      ifElse(
        get("add"),
        store((row, vector) => f32x4.add(v128.load(get("c"), vector * 16), local.get(sum(row, vector)))),
        store((row, vector) => local.get(sum(row, vector))),
      ),
    ];
  });
}
