import { checkContract } from "../../adapters/duckdb/contract/check";
import { profileDataset } from "../../adapters/duckdb/dataset-profile";
import { countRepeats, writeHashes } from "../../adapters/duckdb/repeated-rows";
import { columnTypes, type DuckDbSession, quoteText } from "../../adapters/duckdb/session";
import { checkShards } from "../../adapters/duckdb/shard-check";
import { fetchAllShards } from "../../adapters/duckdb/shard-source";
import { createSplits, timesOf } from "../../adapters/duckdb/splits";
import { findViolations } from "../../adapters/duckdb/violations";
import { withDuckDb } from "../../adapters/duckdb/workspace";
import type { DataContractEvents } from "../../core/datasets/contract/blocked";
import {
  type ContractReport,
  contractWarnings,
  shownViolations,
  type ValidationOutput,
} from "../../core/datasets/contract/report";
import {
  type AppliedContract,
  blockedRun,
  contractOfRun,
  type DataContractRepository,
  dataContractViolated,
} from "../../core/datasets/contract/stored";
import { datasetRejected, emptyDataset, invalidRows } from "../../core/datasets/errors";
import type { DatasetProfile } from "../../core/datasets/profile";
import { putManifestCopy } from "../../core/datasets/register";
import type { DatasetRepository } from "../../core/datasets/repository";
import type { DatasetManifest } from "../../core/datasets/shapes";
import { shardGroups } from "../../core/datasets/shard-plan";
import { readSplits } from "../../core/datasets/split-index";
import { judge, validationStep } from "../../core/datasets/validation";
import { groupReasons, timeReasons } from "../../core/datasets/whole-split";
import { RingmasterError } from "../../core/errors";
import { taskKindOf } from "../../core/evaluation/metrics";
import type { ObjectStore } from "../../core/ports";
import { runNotFound } from "../../core/runs/errors";
import { type RoundTask, storedRounds } from "../../core/runs/rounds";
import { runStep, type StepDependencies, type StepResult } from "../../core/runs/step";
import { validateGroups } from "./validate-groups";

/**
 * Validates a stored version and trusts nothing that its push claimed: shards against their digests, rows against the
 * schema's rules, splits against the rows, and the statistics against the requirements of training. A data contract is
 * checked last; its result is in the output. A version of several groups of shards is validated in rounds.
 *
 * @throws EMPTY_DATASET, INVALID_DATASET_MANIFEST, INVALID_ROWS, DATASET_REJECTED, RoundPending, TaskDone
 */
export async function validateDataset(input: {
  readonly manifest: DatasetManifest;
  readonly objects: ObjectStore;
  readonly contract?: AppliedContract | undefined;
  readonly inputHash: string;
  /** The part that this call computes, of a version of several groups. */
  readonly task?: RoundTask | undefined;
  /** Size of a group; for tests. */
  readonly groupBytes?: number;
}): Promise<ValidationOutput> {
  const { manifest, objects, contract, inputHash, task, groupBytes } = input;
  const dataset = `${manifest.name}@${manifest.version}`;
  if (manifest.rowCount === 0 || manifest.shards.length === 0) throw emptyDataset(`dataset ${dataset}`);
  const groups = shardGroups(manifest, groupBytes);
  if (groups.length > 1) {
    const rounds = storedRounds(objects, inputHash, task);
    const { profile, splitReasons, report } = await validateGroups(manifest, groups, rounds, { objects, contract });
    const output = await accepted(manifest, profile, splitReasons, objects);
    await rounds.clear();
    return report && contract ? withReport(output, report, contract, objects) : output;
  }
  return withDuckDb(async (session) => {
    const files = await fetchAllShards(session, objects, manifest);
    await checkShards(session, files, manifest);
    const table = `read_parquet([${files.map(quoteText).join(", ")}])`;
    const types = await columnTypes(session, table);
    const { violations } = await findViolations(session, table, manifest.schema, types);
    if (violations.length > 0) throw invalidRows(`dataset ${dataset}`, violations);

    await createSplits(session, await readSplits(manifest, objects));
    const profile = await profileDataset(session, table, manifest);
    const splitReasons = await brokenSplitReasons(session, table, manifest);
    const output = await accepted(manifest, profile, splitReasons, objects);
    if (!contract) return output;
    return withReport(output, await checkVersion(manifest, files, contract, objects), contract, objects);
  });
}

/** Returns the reasons why stored splits break the rule that the version states; empty without a rule. */
async function brokenSplitReasons(
  session: DuckDbSession,
  table: string,
  { schema, split: { by, column: name } }: Pick<DatasetManifest, "schema" | "split">,
): Promise<readonly string[]> {
  const column = schema.find((candidate) => candidate.name === name);
  if (by === undefined || column === undefined) return [];
  if (by === "time") return timeReasons(column.name, await timesOf(session, table, column));
  const hashes = await writeHashes(session, table, [column.name], { splits: true });
  return groupReasons(column.name, await countRepeats(session, [hashes]));
}

/** Judges a version whose rows satisfy the schema. @throws DATASET_REJECTED */
async function accepted(
  manifest: DatasetManifest,
  profile: DatasetProfile,
  splitReasons: readonly string[],
  objects: ObjectStore,
): Promise<ValidationOutput> {
  const { errors: found, warnings } = judge(manifest, profile);
  const errors = [...splitReasons, ...found, ...wrongTask(manifest, profile)];
  if (errors.length > 0) throw datasetRejected(manifest.name, manifest.version, errors);
  await putManifestCopy(objects, manifest);
  const stored = await objects.putContent(JSON.stringify(profile), "application/json");
  return { rowCount: profile.rowCount, profile: stored, warnings };
}

/** Returns the error of a version that states another kind of task than its rows have. */
function wrongTask({ task }: DatasetManifest, { classes = [] }: DatasetProfile): readonly string[] {
  const kind = taskKindOf(classes.map(({ rows }) => rows.test));
  return task === undefined || task === kind ? [] : [`its task is ${task}, but its rows make it ${kind}`];
}

async function withReport(
  output: ValidationOutput,
  report: ContractReport,
  contract: AppliedContract,
  objects: ObjectStore,
): Promise<ValidationOutput> {
  const { status, outcomes } = report;
  const summary = {
    ...{ revision: contract.record.revision, status, rules: outcomes.length, violations: shownViolations(report) },
    report: await objects.putContent(JSON.stringify(report), "application/json"),
  };
  return { ...output, warnings: [...output.warnings, ...contractWarnings(report)], contract: summary };
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

interface ValidateRunPorts extends StepDependencies {
  readonly datasets: DatasetRepository;
  readonly dataContracts: DataContractRepository;
  readonly objects: ObjectStore;
  readonly runEvents: DataContractEvents;
}

/**
 * Validates the version of a run under the dataset's current data contract. The step's record has the violations before
 * the run is refused.
 *
 * @param task the part that this call computes, of a large version
 * @throws DATA_CONTRACT_VIOLATED if a rule blocks, after the event was accepted; RoundPending, TaskDone
 */
export async function validateRun(
  ports: ValidateRunPorts,
  runId: string,
  task?: RoundTask,
): Promise<StepResult<ValidationOutput>> {
  const { datasets, dataContracts: contracts, objects, runs, runEvents } = ports;
  const run = await runs.find(runId);
  if (!run) throw runNotFound(runId);
  const contract = await contractOfRun({ datasets, contracts }, run);
  const validate = (manifest: DatasetManifest, inputHash: string) =>
    validateDataset({ manifest, objects, contract, inputHash, task });
  const step = validationStep(ports, validate, contract);
  const result = await runStep(ports, runId, step);
  const { rowCount: rows, contract: found } = result.output;
  if (found?.status !== "blocked") return result;
  await published(() => runEvents.publishDataContractBlocked(blockedRun(run, found, rows)));
  const { name, version } = run.dataset;
  throw dataContractViolated(`dataset ${name}@${version}`, { ...found, rows });
}

/** Makes a failed publication an error that the state machine retries: the event must not be lost. */
async function published(publish: () => Promise<void>): Promise<void> {
  try {
    await publish();
  } catch (cause) {
    const message = `the event that a data contract blocked the run was not accepted (${(cause as Error).message}); it is sent again`;
    throw new RingmasterError(message, { code: "EVENT_NOT_ACCEPTED", httpStatus: 503, retryable: true, cause });
  }
}
