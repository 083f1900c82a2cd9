import type { LoggedModel } from "../../../core/tracking/logged-model";
import { keyValues, metricView, unlessEmpty } from "./run-view";

export type MlflowModelStatus =
  | "LOGGED_MODEL_STATUS_UNSPECIFIED"
  | "LOGGED_MODEL_PENDING"
  | "LOGGED_MODEL_READY"
  | "LOGGED_MODEL_UPLOAD_FAILED";

const toMlflow: Readonly<Record<LoggedModel["status"], MlflowModelStatus>> = {
  unspecified: "LOGGED_MODEL_STATUS_UNSPECIFIED",
  pending: "LOGGED_MODEL_PENDING",
  ready: "LOGGED_MODEL_READY",
  failed: "LOGGED_MODEL_UPLOAD_FAILED",
};

export function modelStatusFromMlflow(status: MlflowModelStatus): LoggedModel["status"] {
  return (Object.keys(toMlflow) as LoggedModel["status"][]).find((ours) => toMlflow[ours] === status)!;
}

/** Builds an `mlflow.LoggedModel`. */
export function loggedModelView(model: LoggedModel): object {
  return {
    info: {
      model_id: model.modelId,
      experiment_id: model.experimentId,
      name: model.name,
      creation_timestamp_ms: model.createdAt,
      last_updated_timestamp_ms: model.updatedAt,
      artifact_uri: model.artifactLocation,
      status: toMlflow[model.status],
      model_type: model.modelType,
      source_run_id: model.sourceRunId,
      ...unlessEmpty("tags", keyValues(model.tags)),
    },
    data: {
      ...unlessEmpty("params", keyValues(model.params)),
      ...unlessEmpty(
        "metrics",
        model.metrics.map(({ key, value, timestamp, step, runId, datasetName, datasetDigest }) =>
          metricView(
            key,
            { value, step, time: timestamp },
            {
              model_id: model.modelId,
              run_id: runId,
              ...(datasetName === undefined ? {} : { dataset_name: datasetName }),
              ...(datasetDigest === undefined ? {} : { dataset_digest: datasetDigest }),
            },
          ),
        ),
      ),
    },
  };
}
