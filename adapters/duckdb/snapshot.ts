import { EmptyDatasetError, InvalidRowsError } from "../../core/datasets/errors";
import { schemaHashOf, versionDigestOf } from "../../core/datasets/identity";
import type { DatasetSchema } from "../../core/datasets/schema";
import type { DatasetDraft } from "../../core/datasets/shapes";
import { castTo } from "./cast";
import { type DuckDbSession, quoteName } from "./session";
import { type ShardFile, writeShards } from "./shard-writer";
import { openSource, reading } from "./source";
import { splitRows } from "./split-rows";
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
