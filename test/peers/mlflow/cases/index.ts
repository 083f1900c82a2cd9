import type { CaseGroup } from "../case";
import { artifactCases } from "./artifacts";
import { registeredModelCases } from "./registered-models";

/** The whole table. Each group has its recording, `recorded/<group>.json`. */
export const groups: readonly CaseGroup[] = [registeredModelCases, artifactCases];
