import { artifactOperations } from "./artifacts";
import type { MlflowOperation } from "./operation";
import { registryOperations } from "./registry";
import { serverOperations } from "./server";
import { trackingOperations } from "./tracking";

/** All that is offered of MLflow's protocol; docs/mlflow.md lists what is not. */
export const mlflowOperations: readonly MlflowOperation[] = [
  ...serverOperations,
  ...trackingOperations,
  ...registryOperations,
  ...artifactOperations("redirect"),
];
