import * as fs from "node:fs";
import * as path from "node:path";
import { emptyDataset, invalidRows, type RowViolation } from "../../core/datasets/errors";
import { schemaHashOf, versionDigestOf } from "../../core/datasets/identity";
import { elementsOf } from "../../core/datasets/rules";
import type { DatasetSchema } from "../../core/datasets/schema";
import type { ColumnSchema, DatasetDraft, DatasetManifest, DatasetShard, SplitName } from "../../core/datasets/shapes";
import { evenCut, maximumShardBytes, recut } from "../../core/datasets/shard-plan";
import { decodeSplitIndex, splitOfRows } from "../../core/datasets/split-index";
import { taskKindOf } from "../../core/evaluation/metrics";
import { referenceOf } from "../files/reference";
import { castTo } from "./cast";
import type { TargetSize } from "./formats/image-header";
import { type DuckDbSession, quoteName, quoteText } from "./session";
import { type DataFiles, openSource, type Source } from "./source";
import { splitRows } from "./split-rows";
import { classesOf, createSplits } from "./splits";
import { findViolations } from "./violations";

interface ShardFile extends DatasetShard {
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
async function writeShards(
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
      return Promise.all(pieces.map(async (piece) => ({ ...piece, ...(await referenceOf(piece.path)) })));
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

export type SnapshotPhase = "checking" | "casting" | "writing" | "splitting";

export interface Snapshot {
  readonly draft: DatasetDraft;
  readonly shards: readonly ShardFile[];
  /** The index files by SHA-256. */
  readonly indexes: ReadonlyMap<string, Uint8Array>;
  /** The columns of the file that the schema does not name. */
  readonly ignoredColumns: readonly string[];
  readonly source: Source;
}

/** A stored version whose rows come before those of the file. */
export interface ParentRows {
  readonly manifest: DatasetManifest;
  readonly files: readonly string[];
  /** Index into `splitNames` of each of its rows. */
  readonly splitOf: Uint8Array;
}

/**
 * Reads a CSV, Parquet or JSON file by the schema and writes it in canonical form. The same rows give the same snapshot
 * in every format.
 *
 * @throws InvalidInputError, EMPTY_DATASET, INVALID_ROWS
 */
export async function createSnapshot(
  session: DuckDbSession,
  input: {
    readonly name: string;
    readonly file: DataFiles;
    readonly size?: TargetSize | undefined;
    readonly schema: DatasetSchema;
    readonly shardBytes?: number;
    readonly parent?: ParentRows;
  },
  onPhase: (phase: SnapshotPhase) => void = () => undefined,
): Promise<Snapshot> {
  const { name, file, schema, parent } = input;
  const { columns } = schema;
  const source = await openSource(session, file, columns, input.size);

  onPhase("checking");
  const { rowCount, violations } = await source.reading(() =>
    findViolations(session, source.table, columns, source.types),
  );
  if (rowCount === 0) throw emptyDataset(source.name);
  if (violations.length > 0) throw invalidRows(source.name, await placed(source, violations));

  onPhase("casting");
  const casts = columns.map(
    (column) => `${castTo(column, source.types.get(column.name)!)} AS ${quoteName(column.name)}`,
  );
  await source.reading(() =>
    session.run(`CREATE OR REPLACE TABLE canonical AS SELECT ${casts.join(", ")} FROM ${source.table}`),
  );

  const write = (): Promise<readonly ShardFile[]> => {
    onPhase("writing");
    return writeShards(session, "canonical", columns, rowCount, input.shardBytes);
  };
  // The shards of appended rows are those that the file alone would give.
  const appended = parent ? await write() : undefined;
  if (parent) await prependRows(session, columns, parent.files);

  onPhase("splitting");
  const total = rowCount + (parent?.manifest.rowCount ?? 0);
  const { split, indexes } = await splitRows(session, schema, total, parent?.splitOf);
  await createSplits(session, splitOfSnapshot({ name, rowCount: total, split }, indexes));
  const classes = await classesOf(session, "canonical", columns);

  const shards = appended ?? (await write());
  const added = shards.map(({ sha256, bytes, rows }) => ({ sha256, bytes, rows }));
  const all = [...(parent?.manifest.shards ?? []), ...added];
  const described = {
    name,
    task: columns.some(({ role }) => role === "label")
      ? taskKindOf((classes ?? []).map(({ rows }) => rows.test))
      : undefined,
    schema: columns,
    schemaHash: schemaHashOf(columns),
    rowCount: total,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    shards: all,
    split,
    ...(parent ? { parent: referenceTo(parent.manifest) } : {}),
  };
  return {
    draft: { ...described, digest: versionDigestOf(described) },
    shards,
    indexes,
    source,
    ignoredColumns: [...source.types.keys()].filter((column) => !columns.some((each) => each.name === column)),
  };
}

/** Returns the index into `splitNames` of each row. */
function splitOfSnapshot(
  { name, rowCount, split }: Pick<DatasetDraft, "name" | "rowCount" | "split">,
  indexes: Snapshot["indexes"],
): Uint8Array {
  const rowsOf = (part: SplitName): Uint32Array =>
    decodeSplitIndex(indexes.get(split.indexes[part].sha256) ?? new Uint8Array(0));
  const splits = { train: rowsOf("train"), validation: rowsOf("validation"), test: rowsOf("test") };
  return splitOfRows(name, rowCount, splits);
}

/** Gives the rows of violations their files, and their numbers within these. */
async function placed(source: Source, violations: readonly RowViolation[]): Promise<readonly RowViolation[]> {
  if (source.files.length === 1) return violations;
  const counts = await source.countRows();
  const place = (row: number): { readonly row: number; readonly file?: string } => {
    let before = 0;
    for (const [index, count] of counts.entries()) {
      if (row <= before + count) return { row: row - before, file: source.files[index]! };
      before += count;
    }
    return { row };
  };
  return violations.map((violation) => ({
    ...violation,
    examples: violation.examples.map(({ row, value }) => ({ value, ...place(row) })),
  }));
}

/** Puts the rows of stored shards before those of the canonical table. */
async function prependRows(
  session: DuckDbSession,
  columns: readonly ColumnSchema[],
  files: readonly string[],
): Promise<void> {
  const names = columns.map(({ name }) => quoteName(name)).join(", ");
  await session.run("ALTER TABLE canonical RENAME TO appended");
  await session.run(
    `CREATE TABLE canonical AS SELECT ${names} FROM read_parquet([${files.map(quoteText).join(", ")}])`,
  );
  await session.run(`INSERT INTO canonical SELECT ${names} FROM appended`);
}

function referenceTo({ version, digest, rowCount }: DatasetManifest): NonNullable<DatasetDraft["parent"]> {
  return { version, digest, rows: rowCount };
}
