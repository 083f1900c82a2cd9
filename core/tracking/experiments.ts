import type { Experiment } from "./experiment";

/** The port to a team's experiments. */
export interface Experiments {
  /** @throws ExperimentExistsError where the name is taken, by a deleted one too. */
  create(asked: {
    readonly name: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly artifactLocation?: string;
    readonly by: string;
    readonly at: string;
    /** Of the same request again the same experiment is answered, whatever became of it. */
    readonly request?: string;
  }): Promise<Experiment>;
  /**
   * That of the name, made where there is none. Safe to call from several processes at once; of one that was met active within the last second another
   * process's deletion or renaming may not be known.
   */
  ensure(name: string, by: string, at: string): Promise<Experiment>;
  find(experimentId: string): Promise<Experiment | undefined>;
  /** As `find`; of one that was met active within the last second another process's changes may not be known. For who makes runs by the thousand. */
  findRecent(experimentId: string): Promise<Experiment | undefined>;
  findByName(name: string): Promise<Experiment | undefined>;
  /** All of the team's, deleted ones too, in the order in which they were made. */
  list(): Promise<readonly Experiment[]>;
  /** As `RunRecords.change`. A new name is taken in the same transaction. @throws ExperimentNotFoundError, ExperimentExistsError, ExperimentBusyError */
  change(experimentId: string, transition: (experiment: Experiment) => Experiment | undefined): Promise<Experiment>;
}
