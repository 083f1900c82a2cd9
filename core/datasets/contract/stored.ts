import * as z from "zod";
import { inRounds, type Pause } from "../../backoff";
import { digestOf } from "../../digest";
import { badRequest, conflict, notFound, RingmasterError } from "../../errors";
import { type Clock, isoTime } from "../../ports";
import type { Run } from "../../runs/shapes";
import { instant, type Shape } from "../../shapes";
import type { DatasetRepository, Page } from "../repository";
import { type DataContractBlocked, dataContractBlocked } from "./blocked";
import { findOtherVersions, identityOf, type OtherVersions, type VersionLookup } from "./others";
import { type ContractOutcome, type ContractReport, type ContractSummary, violationsText } from "./report";
import { assertContractFits, type DataContract, dataContract } from "./rules";

export function dataContractNotFound(dataset: string, revision?: number) {
  const what = revision === undefined ? "no data contract" : `no revision ${revision} of its data contract`;
  return notFound("DATA_CONTRACT_NOT_FOUND", `dataset ${JSON.stringify(dataset)} has ${what}`, { dataset, revision });
}

export function dataContractChanged(dataset: string, expected: number, current: number) {
  const state = current === 0 ? "there is none" : `it has revision ${current}`;
  return conflict(
    "DATA_CONTRACT_CHANGED",
    `the data contract of ${dataset} was to be changed from revision ${expected}, but ${state}`,
    { dataset, expected, current },
  );
}

/** Thrown when rows violate a rule that blocks; has all violations. */
export function dataContractViolated(
  what: string,
  report: Pick<ContractReport, "revision" | "rows"> & { readonly violations: readonly ContractOutcome[] },
) {
  const { revision: number, rows, violations } = report;
  const blocking = violations.filter(({ severity }) => severity === "block");
  const revision = number === undefined ? "" : ` (revision ${number})`;
  return badRequest(
    "DATA_CONTRACT_VIOLATED",
    `${what} violates ${blocking.length === 1 ? "a rule" : `${blocking.length} rules`} of the data contract${revision}: ${violationsText(blocking, rows)}; correct the rows, or change the contract`,
    { revision: number, rows, violations },
  );
}

export const dataContractRecord = z
  .object({
    dataset: z.string(),
    revision: z.int().min(1).meta({ description: "Number of the contract, from 1. A revision never changes." }),
    contract: dataContract,
    by: z.string(),
    at: instant,
    reason: z.string().optional(),
  })
  .meta({ id: "DataContractRecord", description: "A revision of a dataset's data contract." });
export interface DataContractRecord extends Shape<typeof dataContractRecord> {}

/** The port to the contracts of a team's datasets; docs/access-patterns.md, "Datasets". */
export interface DataContractRepository {
  findCurrent(dataset: string): Promise<DataContractRecord | undefined>;
  find(dataset: string, revision: number): Promise<DataContractRecord | undefined>;
  /** Lists revisions, newest first. */
  list(query: {
    readonly dataset: string;
    readonly limit: number;
    readonly nextToken?: string;
  }): Promise<Page<DataContractRecord>>;
  /** Creates a revision; returns false if it exists. */
  create(record: DataContractRecord): Promise<boolean>;
}

const rounds = 8;

/**
 * Sets the contract of a dataset, which need not have a version yet. The same rules are the same revision, however often
 * they are set.
 *
 * @param options.ifRevision the revision that is changed; 0: none
 * @throws DATA_CONTRACT_CHANGED, InvalidInputError
 */
export async function setDataContract(
  {
    contracts,
    clock,
    pause,
  }: { readonly contracts: DataContractRepository; readonly clock: Clock; readonly pause: Pause },
  dataset: string,
  contract: DataContract,
  options: { readonly actor: string; readonly reason?: string; readonly ifRevision?: number | undefined },
): Promise<{ readonly created: boolean; readonly record: DataContractRecord }> {
  assertContractFits(contract, `the data contract of ${dataset}`);
  const { actor, reason, ifRevision } = options;
  const busy = () =>
    new RingmasterError(
      `the data contract of ${dataset} was changed by others during each of ${rounds} attempts; try again`,
      {
        ...{ code: "DATASET_BUSY", httpStatus: 503, retryable: true, details: { name: dataset, attempts: rounds } },
      },
    );
  return inRounds({ rounds, pause, busy }, async () => {
    const current = await contracts.findCurrent(dataset);
    if (current && digestOf(current.contract) === digestOf(contract)) return { created: false, record: current };
    const revision = current?.revision ?? 0;
    if (ifRevision !== undefined && ifRevision !== revision) throw dataContractChanged(dataset, ifRevision, revision);
    const stated = reason === undefined || reason === "" ? {} : { reason };
    const record = { dataset, revision: revision + 1, contract, by: actor, at: isoTime(clock), ...stated };
    return (await contracts.create(record)) ? { created: true, record } : undefined;
  });
}

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
