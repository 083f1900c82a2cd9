import { artifactOperations } from "./artifacts";
import type { MlflowOperation } from "./operation";
import { aliasOperations, modelOperations, searchOperations } from "./registry/models";
import { versionOperations } from "./registry/versions";
import { serverOperations } from "./server";
import { experimentOperations } from "./tracking/experiments";
import { inputOperations, logBatch } from "./tracking/log-batch";
import { loggedModelOperations } from "./tracking/logged-models";
import { metricOperations } from "./tracking/metrics";
import { runSearchOperations } from "./tracking/run-search";
import { runOperations, runWriteOperations } from "./tracking/runs";

export const trackingOperations: readonly MlflowOperation[] = [
  ...experimentOperations,
  ...runOperations,
  ...runWriteOperations,
  logBatch,
  ...inputOperations,
  ...metricOperations,
  ...runSearchOperations,
  ...loggedModelOperations,
];

export const registryOperations: readonly MlflowOperation[] = [
  ...modelOperations,
  ...versionOperations,
  ...aliasOperations,
  ...searchOperations,
];

/** All operations of MLflow's protocol that are offered; docs/mlflow.md lists the others. */
export const mlflowOperations: readonly MlflowOperation[] = [
  ...serverOperations,
  ...trackingOperations,
  ...registryOperations,
  ...artifactOperations("redirect"),
];
