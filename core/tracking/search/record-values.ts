import { workMs } from "../../runs/run";
import type { DatasetInput, RunRecord } from "../shapes";
import type { Attribute, DatasetField, Value } from "./expression";

export interface SearchContext {
  /** By id. */
  readonly experimentNames: ReadonlyMap<string, string>;
}

/** Readers of the attributes of a record. */
export const attributeValues: Readonly<
  Record<Attribute, (record: RunRecord, context: SearchContext) => Value | undefined>
> = {
  run_id: (record) => record.runId,
  name: (record) => record.name,
  status: (record) => record.status,
  experiment: (record, { experimentNames }) => experimentNames.get(record.experimentId),
  experiment_id: (record) => record.experimentId,
  created_by: (record) => record.createdBy,
  start_time: (record) => record.startedAt,
  end_time: (record) => record.endedAt,
  duration: (record) => (record.endedAt === undefined ? undefined : workMs(record, record.endedAt) / 1000),
  artifact_uri: (record) => record.artifactUri,
  source: (record) => record.source,
  parent: (record) => record.parentRunId,
  notes: (record) => (record.notes === "" ? undefined : record.notes),
  lifecycle: (record) => record.lifecycle,
  seed: (record) => record.seed,
  weights_sha256: (record) => record.weightsSha256,
  reused_from: (record) => record.reusedFrom,
  commit: (record) => record.code.commit,
  dirty: (record) => record.code.dirty,
  repository: (record) => record.code.repository,
  branch: (record) => record.code.branch,
  entry_point: (record) => record.code.entryPoint,
  module_sha256: (record) => record.code.moduleSha256,
  image_digest: (record) => record.environment.imageDigest,
  lockfile_sha256: (record) => record.environment.lockfileSha256,
  backend: (record) => record.environment.numerics?.backend,
  device: (record) => record.environment.numerics?.device,
  mlflow_status: (record) => mlflowStatuses[record.status],
};

export const mlflowStatuses: Readonly<Record<RunRecord["status"], string>> = {
  queued: "SCHEDULED",
  running: "RUNNING",
  paused: "SCHEDULED",
  completed: "FINISHED",
  failed: "FAILED",
  killed: "KILLED",
};

/** The tag in which MLflow's clients record the role of a dataset. */
const contextTag = "mlflow.data.context";

export function datasetValue(dataset: DatasetInput, field: DatasetField): string | number | undefined {
  if (field !== "context") return dataset[field];
  return Object.hasOwn(dataset.tags, contextTag) ? dataset.tags[contextTag] : undefined;
}

/** Parses a number, including `nan` and `inf` as Python writes them; `undefined` if the text is not a number. */
export function numberOfText(text: string): number | undefined {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > 64) return undefined;
  const number = Number(trimmed);
  if (!Number.isNaN(number)) return number;
  switch (trimmed.toLowerCase()) {
    case "nan":
      return Number.NaN;
    case "inf":
    case "+inf":
    case "infinity":
      return Number.POSITIVE_INFINITY;
    case "-inf":
    case "-infinity":
      return Number.NEGATIVE_INFINITY;
    default:
      return undefined;
  }
}
