/**
 * The innermost loops of the matrix product: a tile of C, `rows` × (4 or 8) columns, kept in registers while k runs.
 *
 * `a` is a packed panel, `rows` floats for each k; `b` has the tile's columns side by side. Every element of C is Σ a·b in the order of k
 * from 0, multiplication and addition rounded together where this process can (`multiplyAdd`), else apart: the same bits in a tile of any size.
 *
 * The shape is what V8 makes fast machine code of, by measurement (GFLOP/s on a 3.65 GHz Zen 4, whose peak is 58 either way). Apart: 4 × 8 two k
 * at a time 47; 5 × 8 one at a time 44, two 36 (spills); 6 × 8 29 (spills); 3 × 12 42. Four k at a time spill in every shape. Fused: 6 × 8 one at
 * a time 52, two 36 (spills); 4 × 8 48 either way.
 * A loop with its test at the end and a guard before it lets V8 hoist address arithmetic; the branch between the two k keeps it from
 * moving the loads of both to the front.
 */
import type { Code } from "../../wasm/encoding";
import { advance, block, branchIf, f32x4, i32, ifElse, local, loop, v128 } from "../../wasm/instructions";
import type { ValueType, WasmFunction } from "../../wasm/module";
import { multiplyAdd } from "../../wasm/multiply-add";
import { addTo, define, range } from "./define";

const fused = multiplyAdd() === "fused";
/** Most rows of a tile. */
export const maxRows = fused ? 6 : 4;

/** Of B: a packed panel of eight or of four columns, or eight columns where they are, `step` bytes from k to k + 1. */
const kinds = ["packed8", "packed4", "inPlace8"] as const;
type Kind = (typeof kinds)[number];

/** The functions' numbers, which come first in the module. */
export function microKernelIndex(rows: number, kind: Kind): number {
  return (rows - 1) * kinds.length + kinds.indexOf(kind);
}

/**
 * `packed8x4(a, b, c, end, odd, ld, add, step)`: the tile at `c`, rows `ld` bytes apart, becomes (`add`: grows by) the product. `end` is b's
 * address past the last k, `odd` that of the last k where their number is odd, else 0.
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
    const get = (name: keyof typeof v): Code => local.get(v[name]!);
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
    const step: Code = kind === "inPlace8" ? addTo(v["b"]!, v["step"]!) : advance(v["b"]!, width);
    const second = kind === "inPlace8" ? one(get("next"), 0, rows * 4) : one(get("b"), width, rows * 4);
    const secondOfTwo = [
      branchIf(i32.eq(get("b"), get("odd")), 1),
      kind === "inPlace8" ? local.set(v["next"]!, i32.add(get("b"), get("step"))) : [],
      second,
      advance(v["a"]!, rows * 8),
      kind === "inPlace8" ? local.set(v["b"]!, i32.add(get("next"), get("step"))) : advance(v["b"]!, width * 2),
    ];
    const store = (value: (row: number, vector: number) => Code): Code =>
      range(rows).flatMap((row) => [
        ...range(vectors).flatMap((vector) => v128.store(get("c"), value(row, vector), vector * 16)),
        ...(row < rows - 1 ? addTo(v["c"]!, v["ld"]!) : []),
      ]);
    // Addresses are multiples of 4. Known to be the result of an operation, V8 needs not clear their upper halves at every k.
    const clear = (pointer: "a" | "b"): Code => local.set(v[pointer]!, i32.and(get(pointer), i32.const(-4)));
    return [
      clear("a"),
      clear("b"),
      block(
        branchIf(i32.eq(get("b"), get("end")), 0),
        loop(
          one(get("b"), 0, 0),
          ...(fused ? [advance(v["a"]!, rows * 4), step] : secondOfTwo),
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
