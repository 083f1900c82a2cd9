/** Type of an exported column. `timestamp`: milliseconds since the epoch, UTC. */
export type ColumnType = "string" | "int" | "double" | "timestamp";

export interface ExportColumn {
  readonly name: string;
  readonly type: ColumnType;
}

export const exportTables = ["runs", "params", "tags", "metrics", "points"] as const;
export type ExportTable = (typeof exportTables)[number];

const column = (name: string, type: ColumnType): ExportColumn => ({ name, type });
const text = (name: string): ExportColumn => column(name, "string");
const keyed = [text("run_id"), text("key")];

/** The columns of each table. A run's rows are next to each other; `run_id` joins the tables. */
export const exportColumns: Readonly<Record<ExportTable, readonly ExportColumn[]>> = {
  runs: [
    ...[text("run_id"), text("name"), text("source"), text("status"), text("created_by"), text("parent_run_id")],
    ...[column("started_at", "timestamp"), column("ended_at", "timestamp"), column("seed", "int")],
    ...[text("dataset"), text("dataset_digest"), text("git_commit"), text("weights_sha256"), text("notes")],
  ],
  params: [...keyed, text("value")],
  tags: [...keyed, text("value")],
  /** The last point by step, and the extremes. */
  metrics: [
    ...keyed,
    ...[column("last", "double"), column("last_step", "int"), column("last_time", "timestamp")],
    ...[column("min", "double"), column("max", "double")],
  ],
  points: [...keyed, column("step", "int"), column("time", "timestamp"), column("value", "double")],
};

export type Cell = string | number | undefined;

/** Rows as columns, in the order of `exportColumns`. All columns have the same length. */
export type ColumnBlock = readonly (readonly Cell[])[];

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
