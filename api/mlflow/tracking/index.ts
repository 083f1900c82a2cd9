import type { MlflowOperation } from "../operation";
import { experimentOperations } from "./experiments";
import { inputOperations } from "./inputs";
import { logBatch } from "./log-batch";
import { loggedModelOperations } from "./logged-models";
import { metricOperations } from "./metrics";
import { runSearchOperations } from "./run-search";
import { runWriteOperations } from "./run-writes";
import { runOperations } from "./runs";

/** Experiments, runs, metrics and logged models. */
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
