import { readFileSync } from "node:fs";
import type { CheckedRows } from "../../adapters/duckdb/contract/check";
import type { ApiClient } from "../../client/api-client";
import { findOtherVersions, type OtherVersions, type VersionLookup } from "../../core/datasets/contract/others";
import { type ContractReport, contractWarnings, shownViolations } from "../../core/datasets/contract/report";
import { type DataContract, parseDataContract } from "../../core/datasets/contract/rules";
import { type DataContractRecord, dataContractViolated } from "../../core/datasets/contract/stored";
import { parseDatasetSchema } from "../../core/datasets/schema";
import type { DatasetManifest, DatasetVersion } from "../../core/datasets/shapes";
import { InvalidInputError, RingmasterError } from "../../core/errors";
import type { Warning } from "../../core/shapes";
import { download } from "../download";

/** A contract and, if it is the stored one, its revision. */
export interface ChosenContract {
  readonly contract: DataContract;
  readonly revision?: number;
}

export function readContractFile(file: string): DataContract {
  return parseDataContract(textOf(file, "--contract"), file);
}

export async function currentContract(client: ApiClient, name: string): Promise<DataContractRecord | undefined> {
  return unlessAbsent(client.dataContract(name));
}

export async function checkVersion(
  client: ApiClient,
  { manifest }: DatasetVersion,
  { contract, revision }: ChosenContract,
  at: string,
): Promise<ContractReport> {
  const others = await findOtherVersions(contract, manifest, lookupOf(client));
  // DuckDB's library takes long to load: only commands that read data load it.
  const { checkContract } = await import("../../adapters/duckdb/contract/check");
  const { fetchAllShards } = await import("../../adapters/duckdb/shard-source");
  const { withDuckDb } = await import("../../adapters/duckdb/workspace");
  const { name, version, digest, schema, rowCount } = manifest;
  return withDuckDb(async (session) => {
    const files = await fetchAllShards(session, contentsOf(client), manifest);
    const context = { dataset: { name, version, digest }, revision, at, others, objects: contentsOf(client) };
    return checkContract(contract, { schema, rowCount, files }, context);
  });
}

/** Without the dataset's `name`, a rule that needs other versions is not checked. */
export async function checkFile(
  client: ApiClient,
  source: { readonly files: readonly string[]; readonly schemaFile: string; readonly name?: string | undefined },
  { contract, revision }: ChosenContract,
  at: string,
): Promise<ContractReport> {
  const { files: sources, schemaFile, name } = source;
  const schema = parseDatasetSchema(textOf(schemaFile, "--schema"), schemaFile);
  const needsName = contract.rules.some(({ rule }) => rule === "drift") && name === undefined;
  if (needsName) {
    const rule = "is required, because the contract has a rule of kind drift: datasets validate NAME --file …";
    throw new InvalidInputError("the file cannot be validated", [{ path: "reference", rule }]);
  }
  const others: OtherVersions = await findOtherVersions(contract, { name: name ?? "" }, lookupOf(client));
  const { checkContract } = await import("../../adapters/duckdb/contract/check");
  const { createSnapshot } = await import("../../adapters/duckdb/snapshot");
  const { withDuckDb } = await import("../../adapters/duckdb/workspace");
  return withDuckDb(async (session) => {
    const { draft, shards } = await createSnapshot(session, { name: name ?? "file", file: sources, schema });
    const files = shards.map(({ path }) => path);
    const dataset = { name, digest: draft.digest };
    const rows = { schema: draft.schema, rowCount: draft.rowCount, files };
    return checkContract(contract, rows, { dataset, revision, at, others, objects: contentsOf(client) });
  });
}

/** Checks a push by the current contract. If a rule blocks, it reports this (except in a dry run), and throws. */
export function contractCheck(
  client: ApiClient,
  { name, file, dryRun }: { readonly name: string; readonly file: string; readonly dryRun?: boolean | undefined },
  show: (report: ContractReport) => void,
) {
  return async (rows: CheckedRows, digest: string): Promise<readonly Warning[]> => {
    const record = await currentContract(client, name);
    if (!record || record.contract.rules.length === 0) return [];
    const { contract, revision } = record;
    const others = await findOtherVersions(contract, { name }, lookupOf(client));
    const { checkContract } = await import("../../adapters/duckdb/contract/check");
    const at = new Date().toISOString();
    const context = { dataset: { name, digest }, revision, at, others, objects: contentsOf(client) };
    const report = await checkContract(contract, rows, context);
    if (report.status !== "blocked") return contractWarnings(report);
    show(report);
    const violations = shownViolations(report);
    if (!dryRun) await client.reportBlockedPush(name, { revision, digest, at, rows: rows.rowCount, file, violations });
    throw dataContractViolated(file, { ...report, violations });
  };
}

export function lookupOf(client: ApiClient): VersionLookup {
  const manifestOf = async (found: Promise<DatasetVersion>): Promise<DatasetManifest | undefined> =>
    (await unlessAbsent(found))?.manifest;
  return {
    find: (name, version) => (version < 1 ? Promise.resolve(undefined) : manifestOf(client.dataset(name, version))),
    findActive: (name) => manifestOf(client.dataset(name)),
    async findNewest(name) {
      const page = await unlessAbsent(client.call("listDatasetVersions", { params: { name }, query: { limit: 1 } }));
      return page?.items[0]?.manifest;
    },
  };
}

export const contentsOf = (client: ApiClient) => ({ getContent: (sha256: string) => download(client, sha256) });

async function unlessAbsent<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof RingmasterError && error.httpStatus === 404) return undefined;
    if (error instanceof RingmasterError && error.code === "DATASET_WITHOUT_ACTIVE_VERSION") return undefined;
    throw error;
  }
}

function textOf(file: string, option: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const rule = "must be a readable file";
    throw new InvalidInputError("the file cannot be used", [{ path: option, value: file, rule }], cause);
  }
}
