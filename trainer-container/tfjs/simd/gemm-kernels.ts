/**
 * The innermost loops of the matrix product. A tile of C, `rows` × (4 or 8), stays in registers while k runs from 0, so
 * the bits do not depend on its size. `a` is a packed panel, `b` has the tile's columns contiguously. Strides are in
 * bytes.
 * V8 compiles these shapes to the fastest code, in GFLOP/s (Zen 4, peak 58). Separate rounding: 4 × 8 with two k per
 * step 47; 5 × 8 44; 6 × 8 29 (spills); 3 × 12 42. Fused: 6 × 8 with one k 52, with two 36; 4 × 8 48. A loop with its
 * test at the end lets V8 hoist address arithmetic; the branch between two k keeps V8 from moving both loads to the
 * front.
 */
import type { Code } from "../../wasm/encoding";
import { advance, block, branchIf, f32x4, i32, ifElse, local, loop, v128 } from "../../wasm/instructions";
import type { WasmFunction } from "../../wasm/module";
import { multiplyAdd } from "../../wasm/multiply-add";
import { addTo, countDown, define, numbered, numberedOf, range, repeat, times } from "./define";

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
 * `packed8x4(a, b, c, end, odd, ld, add, step)`: `end` is b's address after the last k, `odd` that of the last k if
 * their number is odd, else 0. `add`: C grows by the product.
 */
export const microKernels: readonly WasmFunction[] = range(maxRows).flatMap((index) =>
  kinds.map((kind) => microKernel(index + 1, kind)),
);

function microKernel(rows: number, kind: Kind): WasmFunction {
  const params = ["a", "b", "c", "end", "odd", "ld", "add", "step"] as const;
  const inPlace = kind === "inPlace8";
  /** A row of the tile in registers, and in the panels. */
  const vectors = range(kind === "packed4" ? 1 : 2);
  const [bytesOfA, bytesOfB] = [rows * 4, vectors.length * 16];
  const locals = {
    next: "i32",
    ...numbered("sum", rows * vectors.length, "v128"),
    ...numbered("ofB", vectors.length, "v128"),
    ofA: "v128",
  } as const;
  return define(`${kind}x${rows}`, params, locals, (v) => {
    const { get, set } = local;
    const sums = numberedOf(v, "sum", rows * vectors.length);
    const sum = (row: number, vector: number): number => sums[row * vectors.length + vector] as number;
    const ofB = numberedOf(v, "ofB", vectors.length);

    /** Adds the products of one k to the sums. Its floats are at the pointers, shifted by the offsets. */
    const addProducts = (b: Code, offsetOfB: number, offsetOfA: number): Code => [
      ...ofB.flatMap((each, vector) => set(each, v128.load(b, offsetOfB + vector * 16))),
      ...range(rows).flatMap((row) => [
        ...set(v.ofA, v128.load32Splat(get(v.a), offsetOfA + row * 4)),
        ...ofB.flatMap((each, vector) => set(sum(row, vector), multiplyAndAdd(v.ofA, each, sum(row, vector)))),
      ]),
    ];
    const step = inPlace ? addTo(v.b, v.step) : advance(v.b, bytesOfB);
    const oneK = [addProducts(get(v.b), 0, 0), advance(v.a, bytesOfA), step];
    const twoK = [
      addProducts(get(v.b), 0, 0),
      branchIf(i32.eq(get(v.b), get(v.odd)), 1),
      ...(inPlace
        ? [
            set(v.next, i32.add(get(v.b), get(v.step))),
            addProducts(get(v.next), 0, bytesOfA),
            advance(v.a, 2 * bytesOfA),
            set(v.b, i32.add(get(v.next), get(v.step))),
          ]
        : [addProducts(get(v.b), bytesOfB, bytesOfA), advance(v.a, 2 * bytesOfA), advance(v.b, 2 * bytesOfB)]),
    ];
    const store = (value: (row: number, vector: number) => Code): Code =>
      range(rows).flatMap((row) => [
        ...vectors.flatMap((vector) => v128.store(get(v.c), value(row, vector), vector * 16)),
        ...(row < rows - 1 ? addTo(v.c, v.ld) : []),
      ]);
    // Addresses are multiples of 4. If V8 knows that they are results of an operation, it does not clear their upper
    // halves at every k.
    const clear = (pointer: number): Code => set(pointer, i32.and(get(pointer), i32.const(-4)));
    return [
      clear(v.a),
      clear(v.b),
      block(
        branchIf(i32.eq(get(v.b), get(v.end)), 0),
        loop(...(fused ? oneK : twoK), branchIf(i32.ne(get(v.b), get(v.end)), 0)),
      ),
      ifElse(
        get(v.add),
        store((row, vector) => f32x4.add(v128.load(get(v.c), vector * 16), get(sum(row, vector)))),
        store((row, vector) => get(sum(row, vector))),
      ),
    ];
  });
}

function multiplyAndAdd(a: number, b: number, c: number): Code {
  const [x, y, z] = [local.get(a), local.get(b), local.get(c)];
  return fused ? f32x4.relaxedMultiplyAdd(x, y, z) : f32x4.add(z, f32x4.mul(x, y));
}

export const panelColumns = 8;
const widths = [...range(maxRows).map((index) => index + 1), panelColumns];

const { get, set } = local;

/**
 * Defines `packRuns4(to, from, panels, count, row)`. A panel's floats are contiguous, and rows are `row` bytes apart.
 */
function packRuns(width: number): WasmFunction {
  const vectors = width >> 2;
  const singles = range(width & 3).map((i) => (vectors * 4 + i) * 4);
  return define(`packRuns${width}`, ["to", "from", "panels", "count", "row"], { at: "i32", left: "i32" }, (v) => [
    countDown(
      v.panels,
      set(v.at, get(v.from)),
      repeat(
        v.left,
        v.count,
        ...range(vectors).map((i) => v128.store(get(v.to), v128.load(get(v.at), i * 16), i * 16)),
        ...singles.map((offset) => i32.store(get(v.to), i32.load(get(v.at), offset), offset)),
        advance(v.to, width * 4),
        addTo(v.at, v.row),
      ),
      advance(v.from, width * 4),
    ),
  ]);
}

/** Returns code that copies one row of a panel. Its columns are at the addresses `columns`, shifted by `shift`. */
const copyRow = (to: number, columns: readonly number[], shift: number): Code =>
  columns.flatMap((column, i) => i32.store(get(to), i32.load(i32.add(get(column), get(shift))), i * 4));

/** Defines `packStrided4(to, from, panels, count, row, column)`. The floats of a row are `column` bytes apart. */
function packStrided(width: number): WasmFunction {
  const params = ["to", "from", "panels", "count", "row", "column"] as const;
  const locals = { shift: "i32", left: "i32", ...numbered("at", width, "i32") } as const;
  return define(`packStrided${width}`, params, locals, (v) => {
    const columns = numberedOf(v, "at", width);
    return [
      countDown(
        v.panels,
        ...columns.map((column, i) => set(column, i32.add(get(v.from), times(v.column, i)))),
        set(v.shift, i32.const(0)),
        repeat(v.left, v.count, copyRow(v.to, columns, v.shift), advance(v.to, width * 4), addTo(v.shift, v.row)),
        set(v.from, i32.add(get(v.from), times(v.column, width))),
      ),
    ];
  });
}

/**
 * `packGathered4(to, from, panels, count, rows, columns)`: row r's float i of panel p is at `from + rows[r] + columns[p
 * × width + i]`.
 */
function packGathered(width: number): WasmFunction {
  const params = ["to", "from", "panels", "count", "rows", "columns"] as const;
  const locals = { row: "i32", left: "i32", shift: "i32", ...numbered("at", width, "i32") } as const;
  return define(`packGathered${width}`, params, locals, (v) => {
    const columns = numberedOf(v, "at", width);
    return [
      countDown(
        v.panels,
        ...columns.map((column, i) => set(column, i32.add(get(v.from), i32.load(get(v.columns), i * 4)))),
        set(v.row, get(v.rows)),
        repeat(
          v.left,
          v.count,
          set(v.shift, i32.load(get(v.row))),
          copyRow(v.to, columns, v.shift),
          advance(v.to, width * 4),
          advance(v.row, 4),
        ),
        advance(v.columns, width * 4),
      ),
    ];
  });
}

/** The function `packTail(to, from, width, used, count, row, column)` packs `used` columns of one panel. */
const packTail = define(
  "packTail",
  ["to", "from", "width", "used", "count", "row", "column"],
  { at: "i32", into: "i32", left: "i32" },
  (v) => [
    countDown(
      v.count,
      set(v.at, get(v.from)),
      set(v.into, get(v.to)),
      repeat(v.left, v.used, i32.store(get(v.into), i32.load(get(v.at))), advance(v.into, 4), addTo(v.at, v.column)),
      set(v.to, i32.add(get(v.to), times(v.width, 4))),
      addTo(v.from, v.row),
    ),
  ],
);

export const packs: readonly WasmFunction[] = [
  ...widths.flatMap((width) => [packRuns(width), packStrided(width)]),
  ...range(maxRows).map((index) => packGathered(index + 1)),
  packTail,
];
