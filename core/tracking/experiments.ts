import { experimentNotFound } from "./records/errors";
import type { Experiment } from "./shapes";

export const defaultExperimentId = "0";

export interface Experiments {
  /** Creates an experiment. @throws EXPERIMENT_EXISTS if an experiment has the name, deleted ones included */
  create(experiment: {
    readonly name: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly artifactLocation?: string;
    readonly by: string;
    readonly at: string;
    /** A repetition of the same request returns the same experiment, whatever its state. */
    readonly request?: string;
  }): Promise<Experiment>;
  /** Returns the experiment of that name, creating it if necessary. Another process's change shows after a second. */
  ensure(name: string, by: string, at: string): Promise<Experiment>;
  find(experimentId: string): Promise<Experiment | undefined>;
  /** Like `find`, for callers that create thousands of runs: another process's change shows after a second. */
  findRecent(experimentId: string): Promise<Experiment | undefined>;
  findByName(name: string): Promise<Experiment | undefined>;
  /** Lists all experiments of the team, deleted ones included, in order of creation. */
  list(): Promise<readonly Experiment[]>;
  /**
   * Like `RunRecords.change`. The same transaction reserves a new name.
   * @throws EXPERIMENT_NOT_FOUND, EXPERIMENT_EXISTS, EXPERIMENT_BUSY
   */
  change(experimentId: string, transition: (experiment: Experiment) => Experiment | undefined): Promise<Experiment>;
}

/**
 * Returns the ids of experiments that are given by id or by name. Digits that are both an id and a name are the id. An
 * empty list stays empty, which a search treats as all experiments.
 * @throws EXPERIMENT_NOT_FOUND
 */
export async function experimentIdsOf(
  experiments: Pick<Experiments, "find" | "findByName">,
  requested: readonly string[],
): Promise<readonly string[]> {
  return Promise.all([...new Set(requested)].map(async (text) => (await experimentOf(experiments, text)).experimentId));
}

/** Finds an experiment by its id or name. Digits that are both are the id. @throws EXPERIMENT_NOT_FOUND */
export async function experimentOf(
  experiments: Pick<Experiments, "find" | "findByName">,
  text: string,
): Promise<Experiment> {
  const experiment =
    (/^\d{1,12}$/.test(text) ? await experiments.find(text) : undefined) ?? (await experiments.findByName(text));
  if (!experiment) throw experimentNotFound({ name: text });
  return experiment;
}
