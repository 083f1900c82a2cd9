import { EmptyDatasetError, InvalidRowsError } from "../../core/datasets/errors";
import { schemaHashOf, versionDigestOf } from "../../core/datasets/identity";
import type { DatasetSchema } from "../../core/datasets/schema";
import { type ColumnSchema, type DatasetDraft, splitNames } from "../../core/datasets/shapes";
import { assertSplitsFilled, createSplitter, type Stratum } from "../../core/datasets/split";
import { encodeSplitIndex, SplitIndexBuilder } from "../../core/datasets/split-index";
import { sha256 } from "../../core/digest";
import { castTo } from "./cast";
import { readColumns } from "./row-reader";
import { type DuckDbSession, quoteName } from "./session";
import { type ShardFile, writeShards } from "./shard-writer";
import { openSource, reading } from "./source";
import { findViolations } from "./violations";

export type SnapshotPhase = "checking" | "casting" | "writing" | "splitting";

/** A dataset version on the local disk, ready to be uploaded and registered. */
export interface Snapshot {
  readonly draft: DatasetDraft;
  readonly shards: readonly ShardFile[];
  /** The index files by SHA-256. */
  readonly indexes: ReadonlyMap<string, Uint8Array>;
  /** The columns of the file that the schema does not name. */
  readonly ignoredColumns: readonly string[];
}

/**
 * Reads a CSV, Parquet or JSON file by the schema and writes it in canonical form. The same rows give the same snapshot
 * in every format.
 *
 * @throws InvalidInputError, EmptyDatasetError, InvalidRowsError
 */
export async function createSnapshot(
  session: DuckDbSession,
  input: { readonly name: string; readonly file: string; readonly schema: DatasetSchema; readonly shardBytes?: number },
  onPhase: (phase: SnapshotPhase) => void = () => undefined,
): Promise<Snapshot> {
  const { name, file, schema } = input;
  const { columns } = schema;
  const source = await openSource(session, file, columns);

  onPhase("checking");
  const { rowCount, violations } = await reading(file, () =>
    findViolations(session, source.table, columns, source.types),
  );
  if (rowCount === 0) throw new EmptyDatasetError(file);
  if (violations.length > 0) throw new InvalidRowsError(file, violations);

  onPhase("casting");
  const casts = columns.map(
    (column) => `${castTo(column, source.types.get(column.name)!)} AS ${quoteName(column.name)}`,
  );
  await reading(file, () =>
    session.run(`CREATE OR REPLACE TABLE canonical AS SELECT ${casts.join(", ")} FROM ${source.table}`),
  );

  onPhase("splitting");
  const { split, indexes } = await splitRows(session, schema, rowCount);

  onPhase("writing");
  const shards = await writeShards(session, "canonical", columns, rowCount, input.shardBytes);
  const described = {
    name,
    schema: columns,
    schemaHash: schemaHashOf(columns),
    rowCount,
    bytes: shards.reduce((sum, { bytes }) => sum + bytes, 0),
    shards: shards.map(({ sha256, bytes, rows }) => ({ sha256, bytes, rows })),
    split,
  };
  return {
    draft: { ...described, digest: versionDigestOf(described) },
    shards,
    indexes,
    ignoredColumns: [...source.types.keys()].filter((column) => !columns.some((known) => known.name === column)),
  };
}

async function splitRows(
  session: DuckDbSession,
  { columns, split }: DatasetSchema,
  rowCount: number,
): Promise<{ readonly split: DatasetDraft["split"]; readonly indexes: ReadonlyMap<string, Uint8Array> }> {
  const column = columns.find(({ name }) => name === split.stratifyBy);
  const classes = column === undefined ? undefined : await classCounts(session, column);
  const splitter = createSplitter(split.seed, split.fractions, classes?.counts ?? [rowCount]);
  const builder = new SplitIndexBuilder();
  if (column === undefined || classes === undefined) {
    for (let row = 0; row < rowCount; row += 1) builder.add(splitter.assign(0), row);
  } else {
    for await (const { rows, firstRow, columns: batch } of readColumns(session, "canonical", [column])) {
      const values = batch[column.name]!;
      for (let row = 0; row < rows; row += 1) {
        const value =
          values.kind === "string"
            ? values.values[row]!
            : values.kind === "number" && values.valid[row]
              ? values.values[row]!
              : null;
        builder.add(splitter.assign(classes.indexOf.get(value)!), firstRow + row);
      }
    }
  }
  const files = splitNames.map((name) => {
    const bytes = encodeSplitIndex(builder.rows(name));
    return { name, bytes, index: { sha256: sha256(bytes), bytes: bytes.length, rows: bytes.length / 4 } };
  });
  const [train, validation, test] = files.map(({ index }) => index);
  const indexes = { train: train!, validation: validation!, test: test! };
  assertSplitsFilled(
    { train: indexes.train.rows, validation: indexes.validation.rows, test: indexes.test.rows },
    split.fractions,
    column && classes && { column: column.name, values: classes.values },
  );
  return { split: { ...split, indexes }, indexes: new Map(files.map(({ bytes, index }) => [index.sha256, bytes])) };
}

/** Returns the column's values in ascending order, missing values last, with their numbers of rows. */
async function classCounts(
  session: DuckDbSession,
  { name, type }: ColumnSchema,
): Promise<{
  readonly counts: readonly number[];
  readonly values: readonly Stratum[];
  readonly indexOf: ReadonlyMap<string | number | null, number>;
}> {
  const found = await session.rows(
    `SELECT ${quoteName(name)} AS "value#", count(*) AS "rows#" FROM canonical GROUP BY 1 ORDER BY 1 NULLS LAST`,
  );
  const keyOf = (value: unknown): string | number | null =>
    value === null ? null : type === "string" ? String(value) : Number(value);
  return {
    counts: found.map((row) => Number(row["rows#"])),
    values: found.map((row) => ({ value: keyOf(row["value#"]), rows: Number(row["rows#"]) })),
    indexOf: new Map(found.map((row, index) => [keyOf(row["value#"]), index])),
  };
}
