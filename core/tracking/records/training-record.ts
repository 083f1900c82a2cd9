import type { Job } from "../../runs/job";
import { timesOf } from "../../runs/run";
import type { Run } from "../../runs/shapes";
import type { TrainingOutput } from "../../runs/training-task";
import type { DatasetInput, RunIdentity, RunRecord } from "../shapes";

const keptFields = [
  "name",
  "lifecycle",
  "deletedAt",
  "params",
  "tags",
  "notes",
  "parentRunId",
  "datasets",
  "modelInputs",
  "modelOutputs",
  "artifactUri",
] as const;

/**
 * The stored part of a training run's record, which people change. `params` and `datasets` exclude those of its job.
 */
export type KeptRecord = Pick<RunRecord, (typeof keptFields)[number]>;

/** The part of a training run that the platform determines. */
export interface TrainingState {
  readonly run: Run;
  /** Present once the run has trained. */
  readonly training?: Pick<TrainingOutput, "weightsSha256" | "numerics">;
  /** The run that trained, if this run reuses its output. */
  readonly reusedFrom?: string | undefined;
  /** Types of the machines on which it has run. */
  readonly instanceTypes: readonly string[];
}

export function keptAtFirst(run: Run, artifactLocation: string): KeptRecord {
  return {
    name: run.job.name ?? run.runId,
    lifecycle: "active",
    params: {},
    tags: run.job.tags,
    notes: run.job.notes ?? "",
    ...parentOf(run),
    datasets: [],
    modelInputs: [],
    modelOutputs: [],
    artifactUri: `${artifactLocation}/${run.runId}/artifacts`,
  };
}

function parentOf({ parentRunId = undefined, restoredFrom }: Run): Pick<KeptRecord, "parentRunId"> {
  const parent = parentRunId ?? restoredFrom?.runId;
  return parent === undefined ? {} : { parentRunId: parent };
}

export function recordOf(
  identity: RunIdentity,
  kept: KeptRecord,
  { run, training, reusedFrom, instanceTypes }: TrainingState,
  revision: number,
): RunRecord {
  const numerics = training?.numerics;
  const { lockfileSha256, image, imageDigest } = run.environment ?? {};
  const hardware =
    numerics || instanceTypes.length > 0
      ? { instanceTypes, cpu: numerics?.cpu.model, gpu: numerics?.gpu?.model }
      : undefined;
  return {
    ...identity,
    ...kept,
    status: run.status,
    phase: run.phase,
    createdBy: run.createdBy,
    submitters: run.submitters,
    ...timesOf(run),
    params: { ...kept.params, ...paramsOfJob(run.job) },
    datasets: [datasetOf(run), ...kept.datasets],
    code: run.code,
    environment: { lockfileSha256, image, imageDigest, numerics, hardware },
    seed: run.job.seed,
    job: run.job,
    primaryMetric: run.primaryMetric,
    weightsSha256: training?.weightsSha256,
    reusedFrom,
    revision,
  };
}

/** Splits a changed record. @returns the stored part, or a changed field that follows from the run's own state */
export function keptOf(
  before: RunRecord,
  after: RunRecord,
): { readonly kept: KeptRecord } | { readonly fixedField: string } {
  const jobParams = before.job ? paramsOfJob(before.job) : {};
  const changedParam = Object.keys(jobParams).find((key) => after.params[key] !== jobParams[key]);
  if (changedParam !== undefined) return { fixedField: `param ${changedParam}` };
  const fixed = (["status", "startedAt", "endedAt", "createdBy", "seed", "weightsSha256", "reusedFrom"] as const).find(
    (field) => before[field] !== after[field],
  );
  if (fixed !== undefined) return { fixedField: fixed };
  const { params, datasets, ...rest } = Object.fromEntries(
    keptFields.map((field) => [field, after[field]]),
  ) as unknown as KeptRecord;
  return {
    kept: {
      ...rest,
      params: Object.fromEntries(Object.entries(params).filter(([key]) => !Object.hasOwn(jobParams, key))),
      datasets: before.job ? datasets.slice(1) : datasets,
    },
  };
}

/** The fields of a record of which nothing can be read. */
const blank: Omit<RunRecord, keyof RunIdentity | "name" | "revision"> = {
  status: "failed",
  lifecycle: "active",
  createdBy: "",
  startedAt: 0,
  params: {},
  tags: {},
  notes: "",
  datasets: [],
  modelInputs: [],
  modelOutputs: [],
  code: {},
  environment: {},
  artifactUri: "",
};

/** Returns the record of a run whose rows are damaged: lists have it, and it can be deleted. */
export function unreadableRecord(
  identity: RunIdentity,
  kept: Partial<RunRecord>,
  revision: number,
  unreadable: string,
): RunRecord {
  return { ...blank, name: identity.runId, ...kept, ...identity, revision, unreadable };
}

function datasetOf({ dataset: { name, version, digest } }: Run): DatasetInput {
  return {
    name,
    digest,
    version,
    sourceType: "ringmaster",
    source: `${name}@${version}`,
    tags: { "mlflow.data.context": "training" },
  };
}

export interface FirstRecord {
  readonly identity: RunIdentity;
  readonly kept: KeptRecord;
}

/** Fields of a job that are not parameters: experiment, inputs (the record has them as such), people's notes. */
const notParams: ReadonlySet<string> = new Set([
  "experiment",
  "name",
  "dataset",
  "registerAs",
  "limits",
  "tags",
  "notes",
]);

/**
 * Returns a job's leaves by dotted path: `hyperparameters.learningRate` → `0.001`. Texts are unchanged, other values
 * are JSON; arrays and empty objects are leaves.
 */
export function paramsOfJob(job: { readonly [Field in keyof Job]: unknown }): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const [key, value] of Object.entries(job)) if (!notParams.has(key)) addLeaves(params, key, value);
  return params;
}

function addLeaves(params: Record<string, string>, path: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value === "string") params[path] = value;
  else if (value === null || typeof value !== "object" || Array.isArray(value)) params[path] = JSON.stringify(value);
  else {
    const members = Object.entries(value);
    if (members.length === 0) params[path] = "{}";
    for (const [key, member] of members) addLeaves(params, `${path}.${key}`, member);
  }
}
