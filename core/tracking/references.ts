import { datasetNotFound } from "../datasets/errors";
import { type DatasetRepository, getDatasetVersion } from "../datasets/repository";
import { runNotFound } from "../runs/errors";
import { type LoggedModels, loggedModelNotFound } from "./logged-model";
import type { RunRecords } from "./run-records";

/** The references of a request to records of its team. Empty ids name nothing. */
export interface References {
  readonly runs?: readonly (string | undefined)[];
  readonly loggedModels?: readonly (string | undefined)[];
  /** A reference without a version names a dataset from elsewhere. */
  readonly datasets?: readonly { readonly name: string; readonly version?: number }[];
}

/** The repositories of the caller's team. They do not have ids of other teams. */
export interface ReferencePorts {
  readonly records: Pick<RunRecords, "identify">;
  readonly loggedModels: Pick<LoggedModels, "find">;
  readonly datasets: DatasetRepository;
}

/** Far above any dataset's name, and far below the maximum length of a key. */
const maxNameLength = 255;

/**
 * Checks that everything that a request refers to belongs to the caller's team. All APIs use this rule: an id of
 * another team is not found.
 * @throws RUN_NOT_FOUND, LOGGED_MODEL_NOT_FOUND, DATASET_NOT_FOUND, DATASET_VERSION_NOT_FOUND
 */
export async function checkReferences(ports: ReferencePorts, references: References): Promise<void> {
  const { runs = [], loggedModels = [], datasets = [] } = references;
  for (const runId of new Set(runs)) {
    if (!runId) continue;
    if (!(await ports.records.identify(runId))) throw runNotFound(runId);
  }
  for (const modelId of new Set(loggedModels)) {
    if (!modelId) continue;
    if (!(await ports.loggedModels.find(modelId))) throw loggedModelNotFound(modelId);
  }
  for (const { name, version } of datasets) {
    if (version === undefined) continue;
    if (name.length > maxNameLength) throw datasetNotFound(name);
    await getDatasetVersion(ports.datasets, name, version);
  }
}
