import type { RunStatus } from "../../../core/runs/run-states";
import { mlflowTags } from "../../../core/tracking/member-tags";
import type { MetricPoint, MetricSummary } from "../../../core/tracking/metric-store";
import { type MlflowRunStatus, mlflowStatuses } from "../../../core/tracking/search/evaluate";
import type { DatasetInput, Experiment, RunRecord } from "../../../core/tracking/shapes";

const fromMlflow: Readonly<Record<MlflowRunStatus, RunStatus>> = {
  SCHEDULED: "queued",
  RUNNING: "running",
  FINISHED: "completed",
  FAILED: "failed",
  KILLED: "killed",
};

export function statusFromMlflow(status: MlflowRunStatus): RunStatus {
  return fromMlflow[status];
}

export function newRunMessage(record: RunRecord): object {
  const { outputs: _, ...view } = runMessage(record, []);
  return view;
}

/** Builds an `mlflow.Run`; absent and empty members are omitted, as by protobuf's JSON mapping. */
export function runMessage(record: RunRecord, metrics: readonly MetricSummary[]) {
  const { params, datasets, modelInputs, modelOutputs } = record;
  return {
    info: runInfoMessage(record),
    data: {
      metrics: undefinedIfEmpty(metrics.map(latestMessage)),
      params: undefinedIfEmpty(keyValues(params)),
      tags: undefinedIfEmpty(keyValues(mlflowTags(record))),
    },
    inputs: {
      dataset_inputs: undefinedIfEmpty(datasets.map(datasetInputMessage)),
      model_inputs: undefinedIfEmpty(modelInputs.map((model_id) => ({ model_id }))),
    },
    outputs: {
      model_outputs: undefinedIfEmpty(modelOutputs.map(({ modelId, step }) => ({ model_id: modelId, step }))),
    },
  };
}

export function runInfoMessage(record: RunRecord): object {
  return {
    run_id: record.runId,
    run_uuid: record.runId,
    run_name: record.name,
    experiment_id: record.experimentId,
    user_id: record.createdBy,
    status: mlflowStatuses[record.status],
    start_time: record.startedAt,
    end_time: record.endedAt,
    artifact_uri: record.artifactUri,
    lifecycle_stage: record.lifecycle,
  };
}

function latestMessage({ metric, last, lastStep, lastTime }: MetricSummary): object {
  return { key: metric, value: metricValueMessage(last), timestamp: lastTime, step: lastStep };
}

/** @param more additional members, such as the run's id */
export function metricMessage(key: string, { value, time, step }: MetricPoint, more: object = {}): object {
  return { key, value: metricValueMessage(value), timestamp: time, step, ...more };
}

/** Maps infinities to the largest numbers, as MLflow's databases do, and NaN to a text, as protobuf does. */
export function metricValueMessage(value: number): number | "NaN" {
  if (Number.isNaN(value)) return "NaN";
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value));
}

function datasetInputMessage({ name, digest, sourceType, source, schema, profile, tags }: DatasetInput): object {
  return {
    tags: undefinedIfEmpty(keyValues(tags)),
    dataset: { name, digest, source_type: sourceType, source, schema, profile },
  };
}

export function experimentMessage(experiment: Experiment): object {
  return {
    experiment_id: experiment.experimentId,
    name: experiment.name,
    artifact_location: experiment.artifactLocation,
    lifecycle_stage: experiment.lifecycle,
    creation_time: Date.parse(experiment.createdAt),
    last_update_time: Date.parse(experiment.updatedAt),
    // The value of servers without workspaces.
    workspace: "default",
    tags: undefinedIfEmpty(keyValues(experiment.tags)),
  };
}

export function keyValues(of: Readonly<Record<string, string>>): readonly { key: string; value: string }[] {
  return Object.keys(of).map((key) => ({ key, value: of[key]! }));
}

/** Returns a list as protobuf's JSON mapping has it, which omits empty ones. */
export function undefinedIfEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
