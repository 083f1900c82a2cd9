import { hashRows, profileColumns } from "../../adapters/duckdb/profile";
import { readColumns } from "../../adapters/duckdb/row-reader";
import { type DuckDbSession, quoteText } from "../../adapters/duckdb/session";
import { checkShards } from "../../adapters/duckdb/shard-check";
import { fetchAllShards } from "../../adapters/duckdb/shard-source";
import { findViolations } from "../../adapters/duckdb/violations";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import { DatasetRejectedError, EmptyDatasetError, InvalidRowsError } from "../../core/datasets/errors";
import { type DatasetManifest, type SplitName, splitNames } from "../../core/datasets/manifest";
import { type DatasetProfile, exactProfileRows } from "../../core/datasets/profile";
import { putManifestCopy } from "../../core/datasets/register";
import { RepeatedRows } from "../../core/datasets/repeated-rows";
import { judge } from "../../core/datasets/validation";
import { readSplits } from "../../core/features/materialize";
import { type Category, categoryAt, compareCategories } from "../../core/features/values";
import type { ValidationOutput } from "../../core/pipelines/outputs";
import type { ObjectStore } from "../../core/ports";

/**
 * Validates a stored version, trusting nothing that its push claimed: shards against their digests, rows against the schema's rules,
 * splits against the rows, and what is there against what can be learnt from.
 *
 * @throws EmptyDatasetError, InvalidManifestError, InvalidRowsError, DatasetRejectedError
 */
export function validateDataset(input: {
  readonly manifest: DatasetManifest;
  readonly objects: ObjectStore;
}): Promise<ValidationOutput> {
  const { manifest, objects } = input;
  const dataset = `${manifest.name}@${manifest.version}`;
  return withDuckDb(async (session) => {
    if (manifest.rowCount === 0 || manifest.shards.length === 0) throw new EmptyDatasetError(`dataset ${dataset}`);
    const files = await fetchAllShards(session, objects, manifest);
    await checkShards(session, files, manifest);
    const table = `read_parquet([${files.map(quoteText).join(", ")}])`;
    const types = await typesOf(session, table);
    const { violations } = await findViolations(session, table, manifest.schema, types);
    if (violations.length > 0) throw new InvalidRowsError(`dataset ${dataset}`, violations);

    const profile = await profileOf(session, table, manifest, await readSplits(manifest, objects));
    const { errors, warnings } = judge(manifest, profile);
    if (errors.length > 0) throw new DatasetRejectedError(manifest.name, manifest.version, errors);
    await putManifestCopy(objects, manifest);
    const stored = await objects.putContent(JSON.stringify(profile), "application/json");
    return { rowCount: profile.rowCount, profile: stored, warnings };
  });
}

async function typesOf(session: DuckDbSession, table: string): Promise<ReadonlyMap<string, string>> {
  const described = await session.rows(`DESCRIBE SELECT * FROM ${table}`);
  return new Map(described.map((row) => [String(row["column_name"]), String(row["column_type"])]));
}

async function profileOf(
  session: DuckDbSession,
  table: string,
  manifest: DatasetManifest,
  splitOf: Uint8Array,
): Promise<DatasetProfile> {
  const { name, version, digest, rowCount, schema } = manifest;
  const repeated = new RepeatedRows(splitOf);
  for await (const hashes of hashRows(session, table, schema)) repeated.add(hashes);
  const classes = await classesOf(session, table, manifest, splitOf);
  return {
    dataset: { name, version, digest },
    rowCount,
    exact: rowCount <= exactProfileRows,
    columns: await profileColumns(session, table, schema, rowCount),
    ...(classes ? { classes } : {}),
    ...repeated.finish(),
  };
}

async function classesOf(
  session: DuckDbSession,
  table: string,
  manifest: DatasetManifest,
  splitOf: Uint8Array,
): Promise<DatasetProfile["classes"]> {
  const label = manifest.schema.find(({ role }) => role === "label");
  if (label === undefined || label.type === "float") return undefined;
  const counts = new Map<Category, Record<SplitName, number>>();
  for await (const { rows, firstRow, columns } of readColumns(session, table, [label])) {
    for (let row = 0; row < rows; row += 1) {
      const value = categoryAt(columns[label.name]!, row, label.type)!;
      const count = counts.get(value) ?? { train: 0, validation: 0, test: 0 };
      counts.set(value, count);
      count[splitNames[splitOf[firstRow + row]!]!] += 1;
    }
  }
  return [...counts].map(([value, rows]) => ({ value, rows })).sort((a, b) => compareCategories(a.value, b.value));
}
