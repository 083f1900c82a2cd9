import type { MlflowOperation } from "../operation";
import { aliasOperations } from "./aliases";
import { modelOperations } from "./models";
import { searchOperations } from "./search";
import { versionOperations } from "./versions";

/** MLflow's model registry over ours. */
export const registryOperations: readonly MlflowOperation[] = [
  ...modelOperations,
  ...versionOperations,
  ...aliasOperations,
  ...searchOperations,
];
