import { checkContract } from "../../adapters/duckdb/contract/check";
import { profileDataset } from "../../adapters/duckdb/dataset-profile";
import { type DuckDbSession, quoteText } from "../../adapters/duckdb/session";
import { checkShards } from "../../adapters/duckdb/shard-check";
import { fetchAllShards } from "../../adapters/duckdb/shard-source";
import { splitRuleBroken } from "../../adapters/duckdb/split-rows";
import { findViolations } from "../../adapters/duckdb/violations";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import type { AppliedContract } from "../../core/datasets/contract/applied";
import { type ContractReport, contractWarnings, shownViolations } from "../../core/datasets/contract/report";
import { DatasetRejectedError, EmptyDatasetError, InvalidRowsError } from "../../core/datasets/errors";
import { putManifestCopy } from "../../core/datasets/register";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { judge } from "../../core/datasets/validation";
import type { ValidationOutput } from "../../core/datasets/validation-step";
import { readSplits } from "../../core/features/materialize";
import type { ObjectStore } from "../../core/ports";

/**
 * Validates a stored version and trusts nothing that its push claimed: shards against their digests, rows against the
 * schema's rules, splits against the rows, and the statistics against the requirements of training. A data contract is
 * checked last; its result is in the output.
 *
 * @throws EmptyDatasetError, InvalidManifestError, InvalidRowsError, DatasetRejectedError
 */
export function validateDataset(input: {
  readonly manifest: DatasetManifest;
  readonly objects: ObjectStore;
  readonly contract?: AppliedContract | undefined;
}): Promise<ValidationOutput> {
  const { manifest, objects, contract } = input;
  const dataset = `${manifest.name}@${manifest.version}`;
  return withDuckDb(async (session) => {
    if (manifest.rowCount === 0 || manifest.shards.length === 0) throw new EmptyDatasetError(`dataset ${dataset}`);
    const files = await fetchAllShards(session, objects, manifest);
    await checkShards(session, files, manifest);
    const table = `read_parquet([${files.map(quoteText).join(", ")}])`;
    const types = await typesOf(session, table);
    const { violations } = await findViolations(session, table, manifest.schema, types);
    if (violations.length > 0) throw new InvalidRowsError(`dataset ${dataset}`, violations);

    const splitOf = await readSplits(manifest, objects);
    const profile = await profileDataset(session, table, manifest, splitOf);
    const { errors: found, warnings } = judge(manifest, profile);
    const errors = [...(await splitRuleBroken(session, table, manifest, splitOf)), ...found];
    if (errors.length > 0) throw new DatasetRejectedError(manifest.name, manifest.version, errors);
    await putManifestCopy(objects, manifest);
    const stored = await objects.putContent(JSON.stringify(profile), "application/json");
    const output = { rowCount: profile.rowCount, profile: stored };
    if (!contract) return { ...output, warnings };
    const report = await checkVersion(manifest, files, contract, objects);
    const { status, outcomes } = report;
    const summary = {
      ...{ revision: contract.record.revision, status, rules: outcomes.length, violations: shownViolations(report) },
      report: await objects.putContent(JSON.stringify(report), "application/json"),
    };
    return { ...output, warnings: [...warnings, ...contractWarnings(report)], contract: summary };
  });
}

function checkVersion(
  { name, version, digest, schema, rowCount }: DatasetManifest,
  files: readonly string[],
  { record, others, at }: AppliedContract,
  objects: ObjectStore,
): Promise<ContractReport> {
  const context = { dataset: { name, version, digest }, revision: record.revision, at, others, objects };
  return checkContract(record.contract, { schema, rowCount, files }, context);
}

async function typesOf(session: DuckDbSession, table: string): Promise<ReadonlyMap<string, string>> {
  const described = await session.rows(`DESCRIBE SELECT * FROM ${table}`);
  return new Map(described.map((row) => [String(row["column_name"]), String(row["column_type"])]));
}
