/**
 * Copies into panels: `width` floats for each of `count` rows, panel by panel. A "row" is an index k of the product for
 * either operand. Addresses and strides are in bytes.
 */
import type { Code } from "../../wasm/encoding";
import { advance, i32, local, v128 } from "../../wasm/instructions";
import type { WasmFunction } from "../../wasm/module";
import { addTo, countDown, define, numbered, numberedOf, range, repeat, times } from "./define";
import { maxRows } from "./micro-kernel";

/** The columns of a panel of B. */
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
 * Defines `packGathered4(to, from, panels, count, rows, columns)`. Row r's float i of panel p is at `from + rows[r] +
 * columns[p × width + i]`, with two tables of i32. It gathers a convolution's patches without a matrix of columns.
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

/**
 * The function `packTail(to, from, width, used, count, row, column)`. It packs one panel with `used` columns and does
 * not change the rest.
 */
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
