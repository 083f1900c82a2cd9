import type { Cell, ColumnBlock, ExportColumn } from "./tables";

/**
 * Formats blocks as CSV (RFC 4180), with a header line. An absent value is empty, an empty text is `""`. Timestamps are
 * ISO 8601. Numbers that are not finite are `NaN`, `inf` and `-inf`, as pandas, polars and DuckDB read them.
 */
export async function* csvOf(
  columns: readonly ExportColumn[],
  blocks: AsyncIterable<ColumnBlock>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  yield encoder.encode(`${columns.map(({ name }) => name).join(",")}\n`);
  for await (const block of blocks) {
    const texts = block.map((cells, i) => cells.map((cell) => textOf(cell, columns[i]?.type)));
    const lines = (texts[0] ?? []).map((_, row) => texts.map((column) => column[row]).join(","));
    yield encoder.encode(`${lines.join("\n")}\n`);
  }
}

function textOf(cell: Cell, type: ExportColumn["type"] | undefined): string {
  if (cell === undefined) return "";
  if (typeof cell === "string") return cell === "" || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  if (type === "timestamp") return new Date(cell).toISOString();
  if (Number.isFinite(cell) || Number.isNaN(cell)) return Object.is(cell, -0) ? "-0.0" : String(cell);
  return cell > 0 ? "inf" : "-inf";
}
