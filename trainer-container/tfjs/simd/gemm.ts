/**
 * The matrix product C = A · B over packed panels (Goto and van de Geijn 2008), float32.
 * A *block* is a range of K or M; a *panel* has `maxRows` rows of A or `panelColumns` columns of B, *packed* so that a
 * k's floats are neighbours; a *group* is the panels of B packed at a time; a *tile* is what two panels give; the
 * *tail* is B's last columns.
 * Loops from the outside: blocks of K; blocks of M; groups of B; panels of A; panels of B; k. Blocks of K depend on K
 * alone, so an element's bits do not depend on M, N or other rows.
 */
import { maxRows, panelColumns } from "./gemm-kernels";
import type { Simd } from "./simd";

/** An operand: its address, and the bytes to the next row and column. */
export interface Matrix {
  readonly at: number;
  readonly row: number;
  readonly column: number;
}

interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly a: Matrix;
  readonly b: Matrix;
  /** The rows of C are `row` bytes apart. Its columns are contiguous. */
  readonly c: { readonly at: number; readonly row: number };
  /** Whether the product is added to C instead of replacing it. */
  readonly add?: boolean;
  /** The address where `packWhole` has packed B. Valid as long as B's values do not change. */
  readonly packed?: number | undefined;
}

/** The largest block of K. A panel of B, 8 KiB, then stays in the first-level cache. */
export const maxBlockK = 256;
/** The floats of the packed block of A: half of a second-level cache of 1 MiB. */
const blockA = 131_072;
/** The floats of a group of B. */
const groupB = 4096;
const float = 4;

/** Returns blocks of at most `max`, as equal as possible: `[first, size]`. */
export function blocks(total: number, max: number): readonly (readonly [number, number])[] {
  const count = Math.ceil(total / max);
  const size = Math.floor(total / count);
  const larger = total % count;
  // A loop, because small models compute thousands of products a second, most of one block.
  const ranges: (readonly [number, number])[] = [];
  for (let i = 0; i < count; i++) ranges.push([i * size + Math.min(i, larger), size + (i < larger ? 1 : 0)]);
  return ranges;
}

/** Returns the maximum rows of A whose packed block of that depth fits. */
export function rowsOfBlock(depth: number): number {
  return Math.max(maxRows, Math.floor(blockA / depth));
}

/** Panels of A of one size: `count` panels of `rows` rows each, beginning at row `first` of their block. */
interface Panels {
  readonly rows: number;
  readonly count: number;
  readonly first: number;
}

/** Divides a block's rows into panels of the largest size and of one less, so that none is padded. */
export function panelsOf(m: number, max: number = maxRows): readonly Panels[] {
  const count = Math.ceil(m / max);
  const rows = Math.floor(m / count);
  const larger = m % count;
  const largest = { rows: rows + 1, count: larger, first: 0 };
  const others = { rows, count: count - larger, first: larger * (rows + 1) };
  if (count === 0) return [];
  if (larger === 0) return [others];
  return larger === count ? [largest] : [largest, others];
}

/** Packs `[k, k + depth)` of `panels` of A to `to`. */
export type PackA = (to: number, panels: Panels, k: number, depth: number) => void;

export function gemm(simd: Simd, { m, n, k, a, b, c, packed, add = false }: Product): void {
  if (k === 0 && !add) for (let row = 0; row < m; row++) simd.call["fillZero"]!(c.at + row * c.row, n * float);
  // A single panel of A uses each panel of B once, so contiguous columns of B are read in place.
  const inPlace = packed === undefined && m <= maxRows && b.column === float;
  const panelsOfB = (fromK: number, depth: number, column: number, columns: number): PanelsOfB => {
    if (packed !== undefined) return panelsOfPacked(packed + (fromK * n + column * depth) * float, depth);
    const part = { ...b, at: b.at + fromK * b.row + column * b.column };
    return inPlace ? panelsInPlace(simd, part, columns, depth) : packB(simd, part, columns, depth);
  };
  for (const [fromK, depth] of blocks(k, maxBlockK)) {
    const group = inPlace ? n : Math.max(panelColumns, Math.floor(groupB / depth / panelColumns) * panelColumns);
    for (const [firstRow, rows] of blocks(m, rowsOfBlock(depth))) {
      const panels = panelsOf(rows);
      const packedA = packBlockOfA(simd, packerOf(simd, a, firstRow), panels, fromK, depth);
      for (let column = 0; column < n; column += group) {
        const columns = Math.min(group, n - column);
        const at = c.at + firstRow * c.row + column * float;
        const part = { columns, depth, at, row: c.row, add: add || fromK > 0 };
        multiplyPanels(simd, panels, packedA, panelsOfB(fromK, depth, column, columns), part);
      }
    }
  }
}

/** Returns the packer of a matrix's rows from `firstRow` on. */
const packerOf =
  (simd: Simd, a: Matrix, firstRow: number): PackA =>
  (to, { rows, count, first }, fromK, depth) => {
    const from = a.at + (firstRow + first) * a.row + fromK * a.column;
    if (a.row === float) simd.call[`packRuns${rows}`]!(to, from, count, depth, a.column);
    else simd.call[`packStrided${rows}`]!(to, from, count, depth, a.column, a.row);
  };

/** Packs a block of A, panels of each size after the other. @returns its address in scratch memory */
export function packBlockOfA(simd: Simd, pack: PackA, panels: readonly Panels[], k: number, depth: number): number {
  let rows = 0;
  for (const each of panels) rows += each.count * each.rows;
  const to = simd.scratch("a", rows * depth * float);
  for (const each of panels) pack(to + each.first * depth * float, each, k, depth);
  return to;
}

interface PanelsOfB {
  readonly at: number;
  /** The bytes from panel to panel, and from k to k + 1. */
  readonly panel: number;
  readonly step: number;
  /** The packed panel of the tail, if there is one. */
  readonly tail: number;
}

/** Packs all of B (`k` × `n`, n a multiple of `panelColumns`) to `to`, for several products. */
export function packWhole(simd: Simd, b: Matrix, k: number, n: number, to: number): void {
  for (const [fromK, depth] of blocks(k, maxBlockK)) {
    packFullPanels(simd, to + fromK * n * float, { ...b, at: b.at + fromK * b.row }, n / panelColumns, depth);
  }
}

function panelsOfPacked(at: number, depth: number, tail = 0): PanelsOfB {
  const step = panelColumns * float;
  return { at, panel: depth * step, step, tail };
}

/** Packs a group of B to scratch memory. */
export function packB(simd: Simd, b: Matrix, columns: number, depth: number): PanelsOfB {
  const full = Math.floor(columns / panelColumns);
  const at = simd.scratch("b", full * panelColumns * depth * float);
  packFullPanels(simd, at, b, full, depth);
  return panelsOfPacked(at, depth, packTail(simd, b, full * panelColumns, columns, depth));
}

/** Returns panels of B's own memory. Only the tail is packed. */
function panelsInPlace(simd: Simd, b: Matrix, columns: number, depth: number): PanelsOfB {
  const full = Math.floor(columns / panelColumns) * panelColumns;
  return { at: b.at, panel: panelColumns * float, step: b.row, tail: packTail(simd, b, full, columns, depth) };
}

function packFullPanels(simd: Simd, to: number, b: Matrix, panels: number, depth: number): void {
  if (b.column === float) simd.call["packRuns8"]!(to, b.at, panels, depth, b.row);
  else simd.call["packStrided8"]!(to, b.at, panels, depth, b.row, b.column);
}

function packTail(simd: Simd, b: Matrix, first: number, columns: number, depth: number): number {
  const used = columns - first;
  if (used === 0) return 0;
  const width = used <= 4 ? 4 : panelColumns;
  const bytes = width * depth * float;
  const to = simd.scratch("tail", bytes);
  simd.call["fillZero"]!(to, bytes);
  simd.call["packTail"]!(to, b.at + first * b.column, width, used, depth, b.row, b.column);
  return to;
}

interface PartOfC {
  readonly at: number;
  /** The bytes from row to row. */
  readonly row: number;
  readonly columns: number;
  readonly depth: number;
  readonly add: boolean;
}

/** Multiplies a packed block of A by a group of B. @param a address of the block */
export function multiplyPanels(simd: Simd, panels: readonly Panels[], a: number, b: PanelsOfB, c: PartOfC): void {
  const full = Math.floor(c.columns / panelColumns);
  const tail = c.columns % panelColumns;
  const tile = simd.tile();
  for (const { rows, count, first } of panels) {
    const from = a + first * c.depth * float;
    const into = c.at + first * c.row;
    simd.call[`sweep${rows}`]!(
      ...[from, count, c.depth, b.at, b.panel, b.step, full, b.tail, tail, into, c.row, c.add ? 1 : 0, tile],
    );
  }
}

/** Sums `rows` rows of `width` elements, as a product with a row of ones. */
export function sumRows(simd: Simd, x: number, rows: number, width: number, sums: number): void {
  const one = simd.scratch("one", float);
  simd.floats(one, 1)[0] = 1;
  gemm(simd, {
    m: 1,
    n: width,
    k: rows,
    a: { at: one, row: 0, column: 0 },
    b: { at: x, row: width * float, column: float },
    c: { at: sums, row: width * float },
  });
}
