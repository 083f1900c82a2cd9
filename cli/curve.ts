import type { MetricPoint } from "../core/tracking/metric-store";

/** Dots of a braille character: two columns and four rows. Unicode 15, table 2800: bit by column and row. */
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

export interface CurveSize {
  /** In characters. */
  readonly columns: number;
  readonly rows: number;
}

/**
 * Draws a curve in braille dots, by step and value, with the ends of its axes. Non-finite values are omitted.
 *
 * @returns lines; none if no point can be shown
 */
export function curveLines(
  points: readonly MetricPoint[],
  { columns, rows }: CurveSize,
  label: (value: number) => string,
): string[] {
  const shown = points.filter(({ value }) => Number.isFinite(value));
  if (shown.length === 0) return [];
  const [first, last] = [shown[0]!.step, shown.at(-1)!.step];
  const [least, greatest] = [shown, shown].map((all, i) =>
    all.reduce((best, { value }) => (i === 0 ? Math.min(best, value) : Math.max(best, value)), all[0]!.value),
  ) as [number, number];
  const cells = Array.from({ length: rows }, () => new Array<number>(columns).fill(0));
  const share = (value: number, from: number, to: number) => (to > from ? (value - from) / (to - from) : 0.5);
  for (const { step, value } of shown) {
    const x = Math.round(share(step, first, last) * (2 * columns - 1));
    const y = Math.round((1 - share(value, least, greatest)) * (4 * rows - 1));
    cells[y >> 2]![x >> 1]! |= dots[x & 1]![y & 3]!;
  }
  const labels = cells.map((_, row) => (row === 0 ? label(greatest) : row === rows - 1 ? label(least) : ""));
  const width = Math.max(...labels.map((text) => text.length));
  const lines = cells.map(
    (row, i) => `${labels[i]!.padStart(width)} ┤${row.map((bits) => String.fromCharCode(0x2800 + bits)).join("")}`,
  );
  const [left, right] = [String(first), String(last)];
  const steps = first === last ? left : `${left}${right.padStart(Math.max(columns - left.length, right.length + 1))}`;
  return [...lines, `${" ".repeat(width + 2)}${steps}`];
}
