import { DatasetNotFoundError } from "../datasets/errors";
import { getDatasetVersion } from "../datasets/reference";
import type { DatasetRepository } from "../datasets/repository";
import { RunNotFoundError } from "../training/errors";
import { LoggedModelNotFoundError, type LoggedModels } from "./logged-model";
import type { RunRecords } from "./run-records";

/** The references of a request to records of its team. Empty ids name nothing. */
export interface References {
  readonly runs?: readonly (string | undefined)[];
  readonly loggedModels?: readonly (string | undefined)[];
  /** A reference without a version names a dataset from elsewhere. */
  readonly datasets?: readonly { readonly name: string; readonly version?: number }[];
}

/** The repositories of the caller's team: another team's ids are not in them. */
export interface ReferencePorts {
  readonly records: Pick<RunRecords, "identify">;
  readonly loggedModels: Pick<LoggedModels, "find">;
  readonly datasets: DatasetRepository;
}

/** Far above any dataset's name, far below what a key may have. */
const maxNameLength = 255;

/**
 * Checks that what a request names is the caller's team's. The rule of every API: another team's is answered as what is nowhere.
 *
 * @throws RunNotFoundError, LoggedModelNotFoundError, DatasetNotFoundError, DatasetVersionNotFoundError
 */
export async function checkReferences(ports: ReferencePorts, references: References): Promise<void> {
  const { runs = [], loggedModels = [], datasets = [] } = references;
  for (const runId of new Set(runs)) {
    if (!runId) continue;
    if (!(await ports.records.identify(runId))) throw new RunNotFoundError(runId);
  }
  for (const modelId of new Set(loggedModels)) {
    if (!modelId) continue;
    if (!(await ports.loggedModels.find(modelId))) throw new LoggedModelNotFoundError(modelId);
  }
  for (const { name, version } of datasets) {
    if (version === undefined) continue;
    if (name.length > maxNameLength) throw new DatasetNotFoundError(name);
    await getDatasetVersion(ports.datasets, name, version);
  }
}
