import type { MlflowOperation } from "./operation";
import { serverOperations } from "./server";

/** All that is offered of MLflow's protocol; docs/mlflow.md lists what is not. */
export const mlflowOperations: readonly MlflowOperation[] = [...serverOperations];
