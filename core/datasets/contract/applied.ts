import type { Run } from "../../runs/shapes";
import type { DatasetRepository } from "../repository";
import { type DataContractBlocked, dataContractBlocked } from "./blocked";
import { findOtherVersions, identityOf, type OtherVersions, type VersionLookup } from "./others";
import type { ContractSummary } from "./report";
import type { DataContractRecord, DataContractRepository } from "./stored";

/** A revision of a contract, with everything on which its result for a version depends. */
export interface AppliedContract {
  readonly record: DataContractRecord;
  readonly others: OtherVersions;
  /** The time to which ages refer. ISO 8601. */
  readonly at: string;
}

const hourMs = 3_600_000;

/**
 * Returns the contract that applies to a run's version now; `undefined` if its dataset has none. Ages refer to the hour
 * in which the run was created, so that the trials of a study share the result.
 */
export async function contractOfRun(
  { datasets, contracts }: { readonly datasets: DatasetRepository; readonly contracts: DataContractRepository },
  { dataset, createdAt }: Pick<Run, "dataset" | "createdAt">,
): Promise<AppliedContract | undefined> {
  const record = await contracts.findCurrent(dataset.name);
  if (!record || record.contract.rules.length === 0) return undefined;
  const others = await findOtherVersions(record.contract, dataset, lookupIn(datasets));
  const hour = Math.floor(Date.parse(createdAt) / hourMs) * hourMs;
  return { record, others, at: new Date(hour).toISOString() };
}

/** Returns the inputs of a check. The time counts only if a rule is about ages. */
export function inputsOf({ record, others, at }: AppliedContract): unknown {
  const isDated = record.contract.rules.some(({ rule }) => rule === "freshness");
  return { revision: record.revision, others: identityOf(others), ...(isDated ? { at } : {}) };
}

export function lookupIn(datasets: Pick<DatasetRepository, "find" | "findActive" | "findNewest">): VersionLookup {
  return {
    find: async (name, version) => (version < 1 ? undefined : (await datasets.find(name, version))?.manifest),
    findActive: async (name) => (await datasets.findActive(name))?.manifest,
    findNewest: async (name) => (await datasets.findNewest(name))?.manifest,
  };
}

/** Builds the event that a contract blocked a run. A repetition has the same id and time. */
export function blockedRun(
  { runId, team, dataset, createdAt }: Pick<Run, "runId" | "team" | "dataset" | "createdAt">,
  { revision, violations }: Pick<ContractSummary, "revision" | "violations">,
  rows: number,
): DataContractBlocked {
  const { name, version, digest } = dataset;
  const report = { dataset: { name, version, digest }, revision, at: createdAt, rows, outcomes: violations };
  return dataContractBlocked(report, { team, dataset: name, source: "run", runId });
}
