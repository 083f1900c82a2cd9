import type { CaseGroup } from "../case";
import { artifactCases } from "./artifacts";
import { experimentCases } from "./experiments";
import { loggedModelCases } from "./logged-models";
import { metricCases } from "./metrics";
import { modelVersionCases } from "./model-versions";
import { refusalCases } from "./refusals";
import { registeredModelCases } from "./registered-models";
import { runArtifactCases } from "./run-artifacts";
import { runSearchCases } from "./run-search";
import { runCases } from "./runs";
import { versionChangeCases } from "./version-changes";
import { versionSearchCases } from "./version-searches";
import { wordCases } from "./words";

/** The whole table. Each group has its recording, `recorded/<group>.json`. */
export const groups: readonly CaseGroup[] = [
  experimentCases,
  runCases,
  runSearchCases,
  metricCases,
  loggedModelCases,
  refusalCases,
  wordCases,
  registeredModelCases,
  modelVersionCases,
  versionChangeCases,
  versionSearchCases,
  artifactCases,
  runArtifactCases,
];
