import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { elementsOf } from "../../core/datasets/rules";
import type { ColumnSchema, DatasetShard } from "../../core/datasets/shapes";
import { evenCut, maximumShardBytes, recut } from "../../core/datasets/shard-plan";
import { type DuckDbSession, quoteName, quoteText } from "./session";

/** A shard on the local disk. */
export interface ShardFile extends DatasetShard {
  readonly path: string;
}

/** The size of a row group. A row group is buffered completely, so this bounds the memory for writing and reading. */
const rowGroupBytes = 16 * 1024 * 1024;
const maxRowGroupRows = 122_880;
const vectorSize = 2_048;
const attempts = 8;

/**
 * Writes `rows` of the canonical table `table` as Parquet shards of about equal size. The result depends only on rows
 * and schema: every machine with this version of DuckDB writes the same bytes.
 */
export async function writeShards(
  session: DuckDbSession,
  table: string,
  columns: readonly ColumnSchema[],
  rows: number,
  limit = maximumShardBytes,
): Promise<readonly ShardFile[]> {
  const names = columns.map(({ name }) => quoteName(name)).join(", ");
  const width = columns.reduce((bytes, column) => bytes + bytesOf(column), 0);
  const groupRows = Math.min(maxRowGroupRows, Math.max(1, Math.floor(rowGroupBytes / width / vectorSize)) * vectorSize);
  // A column named like DuckDB's row number hides it. The rows are then selected by OFFSET, which is slower.
  const hidden = columns.some(({ name }) => name.toLowerCase() === "rowid");
  const rowsAt = (from: number, count: number): string =>
    hidden ? `LIMIT ${count} OFFSET ${from}` : `WHERE rowid >= ${from} AND rowid < ${from + count}`;
  const directory = path.join(session.directory, "shards");
  fs.mkdirSync(directory, { recursive: true });
  let cut: readonly number[] = evenCut(rows, width, limit);
  for (let attempt = 1; ; attempt += 1) {
    const pieces: { rows: number; bytes: number; path: string }[] = [];
    let from = 0;
    for (const [index, count] of cut.entries()) {
      const file = path.join(directory, `${String(index).padStart(5, "0")}.parquet`);
      await session.run(
        `COPY (SELECT ${names} FROM ${table} ${rowsAt(from, count)})
         TO ${quoteText(file)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${groupRows})`,
      );
      pieces.push({ rows: count, bytes: fs.statSync(file).size, path: file });
      from += count;
    }
    const next = attempt < attempts ? recut(pieces, limit) : undefined;
    if (next === undefined)
      return Promise.all(pieces.map(async (piece) => ({ ...piece, sha256: await sha256OfFile(piece.path) })));
    for (const piece of pieces) fs.rmSync(piece.path);
    cut = next;
  }
}

/** Returns the uncompressed bytes of one value. The size of text is estimated. */
function bytesOf(column: ColumnSchema): number {
  if (column.type === "tensor") return 4 * elementsOf(column);
  if (column.type === "string") return 24;
  return column.type === "bool" ? 1 : 8;
}

async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of fs.createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
