import type { CaseGroup } from "../case";
import { artifactCases } from "./artifacts";
import { experimentCases } from "./experiments";
import { loggedModelCases } from "./logged-models";
import { metricCases } from "./metrics";
import { modelVersionCases } from "./model-versions";
import { registeredModelCases } from "./registered-models";
import { runSearchCases } from "./run-search";
import { runCases } from "./runs";

/** The whole table. Each group has its recording, `recorded/<group>.json`. */
export const groups: readonly CaseGroup[] = [
  experimentCases,
  runCases,
  runSearchCases,
  metricCases,
  loggedModelCases,
  registeredModelCases,
  modelVersionCases,
  artifactCases,
];
