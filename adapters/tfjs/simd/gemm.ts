/**
 * The matrix product C = A · B over packed panels (Goto and van de Geijn 2008). A is M × K, B is K × N, C is M × N,
 * float32.
 *
 * The blocks of K depend only on K. An element of C is the sum over the blocks in order, and the products within a
 * block are summed in the order of k. Its bits therefore depend on its row of A, its column of B and K, but not on M, N
 * or the other rows.
 */
import { maxRows } from "./micro-kernel";
import { panelColumns } from "./pack";
import type { Simd } from "./simd";

/** An operand: its address, and the bytes to the next row and column. */
export interface Matrix {
  readonly at: number;
  readonly row: number;
  readonly column: number;
}

export interface Product {
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
/** The floats of the panels of B that a panel of A is multiplied with in turn. */
const groupB = 4096;
const float = 4;

/** Returns blocks of at most `max`, as equal as possible: `[first, size]`. */
export function blocks(total: number, max: number): readonly (readonly [number, number])[] {
  const count = Math.ceil(total / max);
  const size = Math.floor(total / count);
  const larger = total % count;
  // A loop, because small models compute thousands of products a second, most of one block.
  const made: (readonly [number, number])[] = [];
  for (let i = 0; i < count; i++) made.push([i * size + Math.min(i, larger), size + (i < larger ? 1 : 0)]);
  return made;
}

/** Returns the maximum rows of A whose packed block of that depth fits. */
export function rowsOfBlock(depth: number): number {
  return Math.max(maxRows, Math.floor(blockA / depth));
}

/** The panels of A: `count` panels of `rows` rows each, beginning at row `first`. */
interface Panels {
  readonly rows: number;
  readonly count: number;
  readonly first: number;
}

/** Divides rows into panels of the largest size and of one less, so that none is padded. */
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

/** Copies `[k, k + depth)` of `panels` of A to `to`. */
export type PackA = (to: number, panels: Panels, k: number, depth: number) => void;

export function gemm(simd: Simd, { m, n, k, a, b, c, packed: whole, add = false }: Product): void {
  if (k === 0 && !add) for (let row = 0; row < m; row++) simd.call["fillZero"]!(c.at + row * c.row, n * float);
  const packA =
    (firstRow: number): PackA =>
    (to, { rows, count, first }, fromK, depth) => {
      const from = a.at + (firstRow + first) * a.row + fromK * a.column;
      if (a.row === float) simd.call[`packRuns${rows}`]!(to, from, count, depth, a.column);
      else simd.call[`packStrided${rows}`]!(to, from, count, depth, a.column, a.row);
    };
  for (const [fromK, depth] of blocks(k, maxBlockK)) {
    for (const [firstRow, rows] of blocks(m, rowsOfBlock(depth))) {
      const panels = panelsOf(rows);
      const packed = packRowsOfA(simd, packA(firstRow), panels, fromK, depth);
      // A single panel of A uses each panel of B once, so contiguous columns of B are read in place.
      const inPlace = whole === undefined && m <= maxRows && b.column === float;
      const group = inPlace ? n : Math.max(panelColumns, Math.floor(groupB / depth / panelColumns) * panelColumns);
      for (let column = 0; column < n; column += group) {
        const columns = Math.min(group, n - column);
        const part = { ...b, at: b.at + fromK * b.row + column * b.column };
        let panelB: PanelsOfB;
        if (whole !== undefined) panelB = panelsOfWhole(whole + (fromK * n + column * depth) * float, depth);
        else panelB = inPlace ? panelInPlace(simd, part, columns, depth) : packB(simd, part, columns, depth);
        const at = c.at + firstRow * c.row + column * float;
        multiplyPanels(simd, panels, packed, panelB, { columns, depth, at, row: c.row, add: add || fromK > 0 });
      }
    }
  }
}

export function packRowsOfA(simd: Simd, pack: PackA, panels: readonly Panels[], k: number, depth: number): number {
  let rows = 0;
  for (const each of panels) rows += each.count * each.rows;
  const to = simd.scratch("a", rows * depth * float);
  for (const each of panels) pack(to + each.first * depth * float, each, k, depth);
  return to;
}

/** Packs all of B (`k` × `n`, columns in groups of eight) to `to`, for several products. */
export function packWhole(simd: Simd, b: Matrix, k: number, n: number, to: number): void {
  for (const [fromK, depth] of blocks(k, maxBlockK)) {
    const [at, from, panels] = [to + fromK * n * float, b.at + fromK * b.row, n / panelColumns];
    if (b.column === float) simd.call["packRuns8"]!(at, from, panels, depth, b.row);
    else simd.call["packStrided8"]!(at, from, panels, depth, b.row, b.column);
  }
}

function panelsOfWhole(at: number, depth: number): PanelsOfB {
  const step = panelColumns * float;
  return { at, panel: depth * step, step, tail: 0 };
}

export interface PanelsOfB {
  readonly at: number;
  /** The bytes from panel to panel, and from k to k + 1. */
  readonly panel: number;
  readonly step: number;
  /** The packed panel of the last columns, if there are fewer than eight. */
  readonly tail: number;
}

export function packB(simd: Simd, b: Matrix, columns: number, depth: number): PanelsOfB {
  const full = Math.floor(columns / panelColumns);
  const at = simd.scratch("b", full * panelColumns * depth * float);
  if (b.column === float) simd.call["packRuns8"]!(at, b.at, full, depth, b.row);
  else simd.call["packStrided8"]!(at, b.at, full, depth, b.row, b.column);
  const step = panelColumns * float;
  return { at, panel: depth * step, step, tail: packTail(simd, b, full * panelColumns, columns, depth) };
}

function panelInPlace(simd: Simd, b: Matrix, columns: number, depth: number): PanelsOfB {
  const full = Math.floor(columns / panelColumns) * panelColumns;
  return { at: b.at, panel: panelColumns * float, step: b.row, tail: packTail(simd, b, full, columns, depth) };
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

/** Multiplies all panels of A by all of B. */
export function multiplyPanels(
  simd: Simd,
  panels: readonly Panels[],
  a: number,
  b: PanelsOfB,
  c: {
    readonly columns: number;
    readonly depth: number;
    readonly at: number;
    readonly row: number;
    readonly add: boolean;
  },
): void {
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
