/** Deleting is a mark that can be taken off again: nothing is ever lost. */
export type Lifecycle = "active" | "deleted";

/** A team's name for runs that belong together. */
export interface Experiment {
  /** Decimal digits, counted up within the team; `0` is the one that every team has, named `Default`. */
  readonly experimentId: string;
  /** Any text of 1–500 characters; of one team no two, deleted ones included, have the same. */
  readonly name: string;
  readonly team: string;
  readonly lifecycle: Lifecycle;
  readonly tags: Readonly<Record<string, string>>;
  /** Where clients are told to put artifacts: `mlflow-artifacts:/<experimentId>` unless its maker said otherwise. */
  readonly artifactLocation: string;
  readonly createdBy: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Guards every change: what was decided upon another revision is decided again. */
  readonly revision: number;
}

export const defaultExperimentId = "0";
