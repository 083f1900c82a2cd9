/**
 * Copies into panels: `width` floats for each of `count` rows, panel by panel. A "row" is an index k of the product for
 * either operand. Addresses and strides are in bytes.
 */
import type { Code } from "../../wasm/encoding";
import { advance, i32, local, v128, whileLoop } from "../../wasm/instructions";
import type { ValueType, WasmFunction } from "../../wasm/module";
import { addTo, define, range, times } from "./define";
import { maxRows } from "./micro-kernel";

/** The columns of a panel of B. */
export const panelColumns = 8;
const widths = [...range(maxRows).map((index) => index + 1), panelColumns];

const columnLocals = (width: number): Record<string, ValueType> =>
  Object.fromEntries(range(width).map((index) => [`c${index}`, "i32"]));

/**
 * Defines `packRuns4(to, from, panels, count, row)`. A panel's floats are contiguous, and rows are `row` bytes apart.
 */
function packRuns(width: number): WasmFunction {
  return define(`packRuns${width}`, ["to", "from", "panels", "count", "row"], { at: "i32", left: "i32" }, (v) => [
    whileLoop(
      local.get(v.panels),
      local.set(v.at, local.get(v.from)),
      local.set(v.left, local.get(v.count)),
      whileLoop(
        local.get(v.left),
        ...range(width >> 2).map((i) => v128.store(local.get(v.to), v128.load(local.get(v.at), i * 16), i * 16)),
        ...range(width & 3).map((i) => {
          const offset = (width - (width & 3) + i) * 4;
          return i32.store(local.get(v.to), i32.load(local.get(v.at), offset), offset);
        }),
        advance(v.to, width * 4),
        addTo(v.at, v.row),
        advance(v.left, -1),
      ),
      advance(v.from, width * 4),
      advance(v.panels, -1),
    ),
  ]);
}

/** Returns code that copies one row of a panel. Its columns are at the addresses `columns`, shifted by `shift`. */
const copyRow = (to: number, columns: readonly number[], shift: Code): Code =>
  columns.flatMap((column, i) => i32.store(local.get(to), i32.load(i32.add(local.get(column), shift)), i * 4));

/** Defines `packStrided4(to, from, panels, count, row, column)`. The floats of a row are `column` bytes apart. */
function packStrided(width: number): WasmFunction {
  const params = ["to", "from", "panels", "count", "row", "column"] as const;
  return define(`packStrided${width}`, params, { shift: "i32", left: "i32", ...columnLocals(width) }, (v) => {
    const columns = range(width).map((i) => params.length + 2 + i);
    return [
      whileLoop(
        local.get(v["panels"]!),
        ...columns.map((column, i) => local.set(column, i32.add(local.get(v["from"]!), times(v["column"]!, i)))),
        local.set(v["shift"]!, i32.const(0)),
        local.set(v["left"]!, local.get(v["count"]!)),
        whileLoop(
          local.get(v["left"]!),
          copyRow(v["to"]!, columns, local.get(v["shift"]!)),
          advance(v["to"]!, width * 4),
          addTo(v["shift"]!, v["row"]!),
          advance(v["left"]!, -1),
        ),
        local.set(v["from"]!, i32.add(local.get(v["from"]!), times(v["column"]!, width))),
        advance(v["panels"]!, -1),
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
  const locals: Record<string, ValueType> = { at: "i32", left: "i32", shift: "i32", ...columnLocals(width) };
  return define(`packGathered${width}`, params, locals, (v) => {
    const columns = range(width).map((i) => params.length + 3 + i);
    return [
      whileLoop(
        local.get(v["panels"]!),
        ...columns.map((column, i) =>
          local.set(column, i32.add(local.get(v["from"]!), i32.load(local.get(v["columns"]!), i * 4))),
        ),
        local.set(v["at"]!, local.get(v["rows"]!)),
        local.set(v["left"]!, local.get(v["count"]!)),
        whileLoop(
          local.get(v["left"]!),
          local.set(v["shift"]!, i32.load(local.get(v["at"]!))),
          copyRow(v["to"]!, columns, local.get(v["shift"]!)),
          advance(v["to"]!, width * 4),
          advance(v["at"]!, 4),
          advance(v["left"]!, -1),
        ),
        advance(v["columns"]!, width * 4),
        advance(v["panels"]!, -1),
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
    whileLoop(
      local.get(v.count),
      local.set(v.at, local.get(v.from)),
      local.set(v.into, local.get(v.to)),
      local.set(v.left, local.get(v.used)),
      whileLoop(
        local.get(v.left),
        i32.store(local.get(v.into), i32.load(local.get(v.at))),
        advance(v.into, 4),
        addTo(v.at, v.column),
        advance(v.left, -1),
      ),
      local.set(v.to, i32.add(local.get(v.to), times(v.width, 4))),
      addTo(v.from, v.row),
      advance(v.count, -1),
    ),
  ],
);

export const packs: readonly WasmFunction[] = [
  ...widths.flatMap((width) => [packRuns(width), packStrided(width)]),
  ...range(maxRows).map((index) => packGathered(index + 1)),
  packTail,
];
